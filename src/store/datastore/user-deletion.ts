import type { AuditEvent } from '../../model/audit-event.js'
import { waitingAccount } from '../account-changes.js'
import { lossesWithDeletion } from '../account-losses.js'
import { toTokenRow } from '../one-time-token-rows.js'
import { Refused } from '../refused.js'
import type { Users } from '../users.js'
import { dropLosses, recordLosses } from './account-losses.js'
import type { Steps } from './engine/steps.js'
import { oneTimeTokens, users } from './engine/tables.js'
import type { Unit } from './engine/unit.js'
import { isLastAdmin } from './last-admin.js'
import { requireToken } from './one-time-tokens.js'
import { writeMail } from './outbox.js'
import { spendProof } from './second-factors.js'
import { changeUser, recordUserChange, requireAt, requireUser } from './user-rows.js'

/** Deletions of accounts, at once or after a wait. */
export function deleteUsers(steps: Steps): Pick<Users, 'delete' | 'deleteOwn' | 'deleteWaiting'> {
  return {
    delete: (id, until, audit, keepAdmin = []) =>
      steps.step<boolean | 'last_admin'>(async (unit) => {
        if (await isLastAdmin(unit, id, keepAdmin, Math.floor(audit.atMs / 1000))) return 'last_admin'
        await remove(unit, id, { until, audit })
        return true
      }, false),

    deleteOwn: ({ userId, version, proof, wait, until, audit, mails, now }, keepAdmin = []) =>
      steps.step<'done' | 'last_admin' | null>(async (unit) => {
        if (await isLastAdmin(unit, userId, keepAdmin, now)) return 'last_admin'
        const row = await requireAt(unit, userId, version, now)
        const spent = proof ? await spendProof(unit, row, proof, now) : row
        const undos = await unit.find(oneTimeTokens, { user_id: userId, purpose: 'email_undo' })
        if (undos.some(({ expires_at }) => expires_at > now) !== (wait !== null)) throw new Refused()
        for (const mail of mails) writeMail(unit, mail)
        if (wait === null) {
          await remove(unit, userId, { until, audit })
          return 'done'
        }
        const { values, losses } = waitingAccount(now)
        await dropLosses(unit, userId, losses)
        unit.put(oneTimeTokens, toTokenRow(wait, unit))
        await changeUser(unit, { ...spent, ...values }, { until, audit })
        return 'done'
      }, null),

    deleteWaiting: ({ id }, until, audit) =>
      steps.step(async (unit) => {
        const now = Math.floor(audit.atMs / 1000)
        const { user_id } = await requireToken(unit, id, { purpose: 'account_deletion', now })
        const { disabled_at, disabled_until } = await requireUser(unit, user_id)
        if (disabled_at === null || disabled_until !== null) throw new Refused()
        await remove(unit, user_id, { until, audit })
        return true
      }, false),
  }
}

/** @throws {Refused} when there is no such user */
async function remove(unit: Unit, id: string, { until, audit }: { until: number; audit: AuditEvent }): Promise<void> {
  const row = await requireUser(unit, id)
  unit.remove(users, [row])
  await dropLosses(unit, id, lossesWithDeletion)
  await recordLosses(unit, { audit, until })
  recordUserChange(unit, { id, version: Number.MAX_SAFE_INTEGER }, until)
}
