import type { AuditEvent } from '../../model/audit-event.js'
import type { OneTimePurpose } from '../../model/one-time-token.js'
import { waitingAccount } from '../account-changes.js'
import { lossesWithDeletion } from '../account-losses.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused } from '../refused.js'
import type { Users } from '../users.js'
import { dropLosses, recordLosses } from './account-losses.js'
import { writeChanges } from './changes.js'
import type { Steps, Unit } from './engine/steps.js'
import { consumeToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { spend } from './second-factors.js'
import { recordUserChange, requireOne } from './user-passwords.js'
import { holdUser, isEnabled } from './user-rows.js'

/** Deletions of accounts, at once or after a wait. */
export function deleteUsers(steps: Steps): Pick<Users, 'delete' | 'deleteOwn' | 'deleteWaiting'> {
  return {
    delete: (id, until, audit, keepAdmin = []) =>
      steps.transaction<boolean | 'last_admin'>(async (unit) => {
        if (await unit.isLastAdmin(unit, id, keepAdmin, Math.floor(audit.atMs / 1000))) return 'last_admin'
        await remove(unit, id, { until, audit })
        return true
      }, false),

    deleteOwn: ({ userId, version, proof, wait, until, audit, mails, now }, keepAdmin = []) =>
      steps.transaction<'done' | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(unit, userId, keepAdmin, now)) return 'last_admin'
        await holdUser(unit, userId)
          .where('version', '=', version)
          .where(isEnabled(now))
          .executeTakeFirst()
          .then(requireOne)
        if (proof) await spend(unit, { userId, version, proof }, now)
        if ((await hasToken(unit, userId, { purpose: 'email_undo', now })) !== (wait !== null)) throw new Refused()
        for (const mail of mails) await writeMail(unit, mail)
        if (wait === null) {
          await remove(unit, userId, { until, audit })
          return 'done'
        }
        const { values, losses } = waitingAccount(now)
        await unit.db
          .updateTable('latchkey_users')
          .set({ ...values, version: version + 1 })
          .where('id', '=', userId)
          .execute()
        await dropLosses(unit, userId, losses)
        await unit.db.insertInto('latchkey_one_time_tokens').values(toTokenRow(wait, unit)).execute()
        await recordUserChange(unit, userId, { until, audit })
        return 'done'
      }, null),

    deleteWaiting: ({ id, userId }, until, audit) =>
      steps.transaction(async (unit) => {
        await consumeToken(unit, id, { purpose: 'account_deletion', now: Math.floor(audit.atMs / 1000) })
        if (userId === null) return true
        const held = holdUser(unit, userId).where('disabled_at', 'is not', null).where('disabled_until', 'is', null)
        await held.executeTakeFirst().then(requireOne)
        await remove(unit, userId, { until, audit })
        return true
      }, false),
  }
}

/** Whether a user has a token of this purpose that has not expired. */
export async function hasToken(
  unit: Unit,
  userId: string,
  { purpose, now }: { purpose: OneTimePurpose; now: number },
): Promise<boolean> {
  const token = await unit.db
    .selectFrom('latchkey_one_time_tokens')
    .select('id')
    .where('user_id', '=', userId)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return token !== undefined
}

/** @throws {Refused} when there is no such user */
async function remove(unit: Unit, id: string, { until, audit }: { until: number; audit: AuditEvent }): Promise<void> {
  await holdUser(unit, id).executeTakeFirst().then(requireOne)
  // Foreign keys do this too, but they do not tell which impersonations they end.
  await dropLosses(unit, id, lossesWithDeletion)
  await unit.db.deleteFrom('latchkey_users').where('id', '=', id).execute()
  await recordLosses(unit, { audit, until })
  await writeChanges(unit, 'user', [id], until, Number.MAX_SAFE_INTEGER)
}
