import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import { changedPassword, entrustedAccount, entrustedProof, resetAccount } from '../account-changes.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused } from '../refused.js'
import { toSessionRow } from '../session-rows.js'
import type { AccountStep, Users } from '../users.js'
import { dropLosses, recordLosses } from './account-losses.js'
import { writeChanges } from './changes.js'
import type { Steps, Unit } from './engine/steps.js'
import { wipeUnproven } from './first-proof.js'
import { consumeToken, ownerOf } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { isEnabled, readUser } from './user-rows.js'

/** Each step writes the user's row first: a concurrent sign-in waits for it, and then finds another version. */
export function changePasswords(steps: Steps): Pick<Users, 'resetPassword' | 'changePassword' | 'entrust'> {
  return { ...resetPasswords(steps), ...replacePasswords(steps), ...entrustUsers(steps) }
}

function resetPasswords(steps: Steps): Pick<Users, 'resetPassword'> {
  return {
    async resetPassword(tokenId, purpose, passwordHash, now, step) {
      const owner = await ownerOf(steps, tokenId, purpose)
      if (!owner) return null
      return steps.transaction<UserRecord | null>(async (unit) => {
        await wipeUnproven(unit, owner.id, step)
        const { values, losses } = resetAccount(passwordHash)
        await unit.db
          .updateTable('latchkey_users')
          .set((eb) => ({ ...values, version: eb('version', '+', 1) }))
          .where('id', '=', owner.id)
          .where('email_canonical', '=', owner.email)
          .where(isEnabled(now))
          .executeTakeFirst()
          .then(requireOne)
        await consumeToken(unit, tokenId, { purpose, now })
        await dropLosses(unit, owner.id, losses)
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

function entrustUsers(steps: Steps): Pick<Users, 'entrust'> {
  return {
    entrust: ({ id, emailCanonical }, { passwordHash, invitation, now }, step) =>
      steps.transaction<UserRecord | null>(async (unit) => {
        await wipeUnproven(unit, id, { strict: true, renewal: entrustedProof })
        const { values, losses } = entrustedAccount(passwordHash)
        await unit.db
          .updateTable('latchkey_users')
          .set((eb) => ({ ...values, version: eb('version', '+', 1) }))
          .where('id', '=', id)
          .where('email_canonical', '=', emailCanonical)
          .where(isEnabled(now))
          .executeTakeFirst()
          .then(requireOne)
        await dropLosses(unit, id, losses)
        if (invitation) {
          await unit.db.insertInto('latchkey_one_time_tokens').values(toTokenRow(invitation, unit)).execute()
        }
        return recordUserChange(unit, id, step)
      }, null),
  }
}

/** Ends every session and starts a new one. @throws {Refused} when the session that asked has ended */
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

/** The last writes of a step that raised the version: event, notice, and the row that revokes every older access token. */
export async function recordUserChange(unit: Unit, id: string, step: AccountStep): Promise<UserRecord> {
  const { until, mail, secondMail } = step
  const user = await readUser(unit.db, 'id', id)
  if (!user) throw new Refused()
  await recordLosses(unit, step)
  if (mail) await writeMail(unit, mail)
  if (secondMail) await writeMail(unit, secondMail)
  await writeChanges(unit, 'user', [id], until, user.version)
  return user
}

/** @throws {Refused} when the write changed no row */
export function requireOne({ numUpdatedRows }: { numUpdatedRows: bigint }): void {
  if (numUpdatedRows === 0n) throw new Refused()
}

/** @throws {Refused} when the write deleted no row */
export function requireDeleted({ numDeletedRows }: { numDeletedRows: bigint }): void {
  if (numDeletedRows === 0n) throw new Refused()
}
