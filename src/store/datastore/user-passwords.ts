import type { Session } from '../../model/session.js'
import { Refused } from '../refused.js'
import { toSessionRow } from '../session-rows.js'
import type { Users } from '../users.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens, sessions } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { dropDevices, dropEveryHold, dropSessions, wipeUnproven } from './first-proof.js'
import { dropTokens, requireToken } from './one-time-tokens.js'
import { changeUser, isEnabled, requireAt, requireUser } from './user-rows.js'

export function changePasswords(steps: Steps): Pick<Users, 'resetPassword' | 'changePassword' | 'setPassword'> {
  return {
    resetPassword: (tokenId, passwordHash, now, step) =>
      steps.step(async (unit) => {
        const token = await requireToken(unit, tokenId, { purpose: 'password_reset', now })
        const row = await requireUser(unit, token.user_id)
        if (row.email_canonical !== token.email || !isEnabled(row, now)) throw new Refused()
        const proved = (await wipeUnproven(unit, row)) ?? row
        unit.remove(oneTimeTokens, [token])
        await dropEveryHold(unit, row.id)
        return changeUser(unit, { ...proved, password_hash: passwordHash }, step)
      }, null),

    changePassword: ({ userId, version, fromSessionId, passwordHash, session }, step) =>
      steps.step(async (unit) => {
        const row = await requireAt(unit, userId, version, session.createdAt)
        await startAnew(unit, { userId, fromSessionId, session })
        await dropTokens(unit, userId, 'password_reset', 'email_change')
        return changeUser(unit, { ...row, password_hash: passwordHash }, step)
      }, null),

    setPassword: (id, passwordHash, step) =>
      steps.step(async (unit) => {
        const row = await requireUser(unit, id)
        await dropSessions(unit, id)
        await dropDevices(unit, id)
        await dropTokens(unit, id, 'password_reset', 'email_change')
        return changeUser(unit, { ...row, password_hash: passwordHash }, step)
      }, null),
  }
}

/** Ends every session and starts a new one. @throws {Refused} when the one that asked has ended */
export async function startAnew(
  unit: Unit,
  { userId, fromSessionId, session }: { userId: string; fromSessionId: string; session: Session },
): Promise<void> {
  const from = await unit.get(sessions, fromSessionId)
  if (from?.user_id !== userId) throw new Refused()
  await dropSessions(unit, userId)
  unit.put(sessions, toSessionRow(session, unit))
}
