import type { AuditEvent } from '../../model/audit-event.js'
import { consumeToken, hasToken, requireOwned, toTokenRow } from '../one-time-tokens.js'
import { writeMail } from '../outbox.js'
import { Refused } from '../refused.js'
import { oneTimeTokens, users } from '../tables.js'
import type { Steps, Unit } from '../unit.js'
import type { Users } from '../users.js'
import { waitingAccount } from './changes.js'
import { dropLosses, lossesWithDeletion, recordLosses } from './losses.js'
import { spendProof } from './second-factors.js'
import { changeUser, requireAt, requireUser } from './steps.js'

/** Deletions of accounts, at once or after a wait. */
export function deleteUsers(steps: Steps): Pick<Users, 'delete' | 'deleteOwn' | 'deleteWaiting'> {
  return {
    delete: (id, until, audit, keepAdmin = []) =>
      steps.transaction<boolean | 'last_admin'>(async (unit) => {
        if (await unit.isLastAdmin(id, keepAdmin, Math.floor(audit.atMs / 1000))) return 'last_admin'
        await remove(unit, id, { until, audit })
        return true
      }, false),

    deleteOwn: ({ userId, version, proof, wait, until, audit, mails, now }, keepAdmin = []) =>
      steps.transaction<'done' | 'last_admin' | null>(async (unit) => {
        if (await unit.isLastAdmin(userId, keepAdmin, now)) return 'last_admin'
        const row = await requireAt(unit, userId, version, now)
        const spent = proof ? await spendProof(unit, row, proof, now) : row
        if ((await hasToken(unit, userId, { purpose: 'email_undo', now })) !== (wait !== null)) throw new Refused()
        for (const mail of mails) await writeMail(unit, mail)
        if (wait === null) {
          await remove(unit, userId, { until, audit })
          return 'done'
        }
        const { values, losses } = waitingAccount(now)
        await dropLosses(unit, userId, losses)
        await unit.put(oneTimeTokens, toTokenRow(wait, unit))
        await changeUser(unit, { ...spent, ...values }, { until, audit })
        return 'done'
      }, null),

    deleteWaiting: ({ id }, until, audit) =>
      steps.transaction(async (unit) => {
        const now = Math.floor(audit.atMs / 1000)
        const { user_id } = await requireOwned(unit, id, 'account_deletion')
        const { disabled_at, disabled_until } = await requireUser(unit, user_id)
        if (disabled_at === null || disabled_until !== null) throw new Refused()
        await consumeToken(unit, id, { purpose: 'account_deletion', now })
        await remove(unit, user_id, { until, audit })
        return true
      }, false),
  }
}

/** @throws {Refused} when there is no such user */
async function remove(unit: Unit, id: string, { until, audit }: { until: number; audit: AuditEvent }): Promise<void> {
  const row = await requireUser(unit, id)
  // Foreign keys do this too, but they do not tell which impersonations they end.
  await dropLosses(unit, id, lossesWithDeletion)
  await unit.remove(users, [row])
  await recordLosses(unit, { audit, until })
  unit.change('user', [id], until, Number.MAX_SAFE_INTEGER)
}
