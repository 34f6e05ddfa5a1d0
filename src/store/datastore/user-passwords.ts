import type { Session } from '../../model/session.js'
import { changedPassword, entrustedAccount, entrustedProof, resetAccount } from '../account-changes.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused } from '../refused.js'
import { toSessionRow } from '../session-rows.js'
import type { Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens, sessions } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { wipeUnproven } from './first-proof.js'
import { requireToken } from './one-time-tokens.js'
import { changeUser, isEnabled, requireAt, requireUser } from './user-rows.js'

export function changePasswords(steps: Steps): Pick<Users, 'resetPassword' | 'changePassword' | 'entrust'> {
  return {
    resetPassword: (tokenId, purpose, passwordHash, now, step) =>
      steps.step(async (unit) => {
        const token = await requireToken(unit, tokenId, { purpose, now })
        const row = await requireUser(unit, token.user_id)
        if (row.email_canonical !== token.email || !isEnabled(row, now)) throw new Refused()
        const proved = (await wipeUnproven(unit, row, step)) ?? row
        unit.remove(oneTimeTokens, [token])
        const { values, losses } = resetAccount(passwordHash)
        await dropLosses(unit, row.id, losses)
        return changeUser(unit, { ...proved, ...values }, step)
      }, null),

    changePassword: ({ userId, version, fromSessionId, passwordHash, session }, step) =>
      steps.step(async (unit) => {
        const row = await requireAt(unit, userId, version, session.createdAt)
        await startAnew(unit, { userId, fromSessionId, session })
        const { values, losses } = changedPassword(passwordHash)
        await dropLosses(unit, userId, losses)
        return changeUser(unit, { ...row, ...values }, step)
      }, null),

    entrust: ({ id, emailCanonical }, { passwordHash, invitation, now }, step) =>
      steps.step(async (unit) => {
        const row = await requireUser(unit, id)
        if (row.email_canonical !== emailCanonical || !isEnabled(row, now)) throw new Refused()
        const proved = (await wipeUnproven(unit, row, { strict: true, renewal: entrustedProof })) ?? row
        const { values, losses } = entrustedAccount(passwordHash)
        await dropLosses(unit, id, losses)
        if (invitation) unit.put(oneTimeTokens, toTokenRow(invitation, unit))
        return changeUser(unit, { ...proved, ...values }, step)
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
  await dropLosses(unit, userId, { sessions: true })
  unit.put(sessions, toSessionRow(session, unit))
}
