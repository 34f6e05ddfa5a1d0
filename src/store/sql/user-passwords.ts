import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { changedPassword } from '../account-changes.js'
import { everyHold } from '../account-losses.js'
import { Refused } from '../refused.js'
import { toSessionRow } from '../session-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses } from './account-losses.js'
import { writeAudit } from './audit.js'
import { writeChanges } from './changes.js'
import type { Steps, Unit } from './engine/steps.js'
import { wipeUnproven } from './first-proof.js'
import { consumeToken, ownerOf } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { isEnabled, readUser } from './user-rows.js'

/** The user's row is written first in each: whoever opens a session waits for it, and finds another version then. */
export function changePasswords(steps: Steps): Pick<Users, 'resetPassword' | 'changePassword'> {
  return { ...resetPasswords(steps), ...replacePasswords(steps) }
}

function resetPasswords(steps: Steps): Pick<Users, 'resetPassword'> {
  return {
    async resetPassword(tokenId, passwordHash, now, step) {
      const owner = await ownerOf(steps, tokenId, 'password_reset')
      if (!owner) return null
      return steps.transaction<UserRecord | null>(async (unit) => {
        await wipeUnproven(unit, owner.id)
        await unit.db
          .updateTable('latchkey_users')
          .set((eb) => ({ password_hash: passwordHash, email_verified: 1, version: eb('version', '+', 1) }))
          .where('id', '=', owner.id)
          .where('email_canonical', '=', owner.email)
          .where(isEnabled(now))
          .executeTakeFirst()
          .then(requireOne)
        await consumeToken(unit, tokenId, { purpose: 'password_reset', now })
        await dropLosses(unit, owner.id, everyHold)
        return recordUserChange(unit, owner.id, step)
      }, null)
    },
  }
}

function replacePasswords(steps: Steps): Pick<Users, 'changePassword'> {
  return {
    changePassword: ({ userId, version, fromSessionId, passwordHash, session }, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        const { values, losses } = changedPassword(passwordHash)
        await unit.db
          .updateTable('latchkey_users')
          .set({ ...values, version: version + 1 })
          .where('id', '=', userId)
          .where('version', '=', version)
          .where(isEnabled(session.createdAt))
          .executeTakeFirst()
          .then(requireOne)
        await startAnew(unit, { userId, fromSessionId, session })
        await dropLosses(unit, userId, losses)
        return recordUserChange(unit, userId, step)
      }, null),
  }
}

/** Ends every session and starts a new one. @throws {Refused} when the one that asked has ended */
export async function startAnew(
  unit: Unit,
  { userId, fromSessionId, session }: { userId: string; fromSessionId: string; session: Session },
): Promise<void> {
  await unit.db
    .deleteFrom('latchkey_sessions')
    .where('id', '=', fromSessionId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
    .then(requireDeleted)
  await dropLosses(unit, userId, { sessions: true })
  await unit.db.insertInto('latchkey_sessions').values(toSessionRow(session, unit)).execute()
}

/** The last writes of a step that raised the version: event, notice, and the row that kills every older access token. */
export async function recordUserChange(unit: Unit, id: string, step: AccountStep): Promise<UserRecord> {
  const { until, audit, mail, secondMail } = step
  const user = await readUser(unit.db, 'id', id)
  if (!user) throw new Refused()
  await writeAudit(unit, audit)
  if (mail) await writeMail(unit, mail)
  if (secondMail) await writeMail(unit, secondMail)
  await writeChanges(unit, 'user', [id], until, user.version)
  return user
}

/** @throws {Refused} when the write met no row */
export function requireOne({ numUpdatedRows }: { numUpdatedRows: bigint }): void {
  if (numUpdatedRows === 0n) throw new Refused()
}

/** @throws {Refused} when the write met no row */
export function requireDeleted({ numDeletedRows }: { numDeletedRows: bigint }): void {
  if (numDeletedRows === 0n) throw new Refused()
}
