import { provingWays } from '../../model/admin-role.js'
import { LastAdmin } from '../refused.js'
import type { AdminEmails } from '../users.js'
import type { LastAdminCheck, Unit } from './engine/steps.js'
import { isEnabled, needsNoReset } from './user-rows.js'

/** By the role ADMIN. First writes, and so locks, the row of every administrator. */
export const isLastByRole: LastAdminCheck = async (unit, id, emails, now) => {
  if (emails.length === 0) return false
  await unit.db
    .updateTable('latchkey_users')
    .set((eb) => ({ version: eb.ref('version') }))
    .where('email_canonical', 'in', emails)
    .execute()
  // A statement of its own, so that it sees what the former lock holder has committed.
  const admins = await unit.db
    .selectFrom('latchkey_users')
    .select('id')
    .where('email_canonical', 'in', emails)
    .where('email_verified', '=', 1)
    .where('verified_by', 'in', provingWays)
    .where(isEnabled(now))
    .where(needsNoReset)
    .execute()
  return admins.length === 1 && admins[0]?.id === id
}

/**
 * Runs a change after which the account may not be usable any more. The rows that decide are locked before it.
 *
 * @throws {LastAdmin} when it was the last administrator, and is none afterwards
 */
export async function keepingAdmin<T>(
  unit: Unit,
  { id, emails, now }: { id: string; emails: AdminEmails; now: number },
  change: () => Promise<T>,
): Promise<T> {
  const isLast = () => unit.isLastAdmin(unit, id, emails, now)
  const wasLast = await isLast()
  const answer = await change()
  if (wasLast && !(await isLast())) throw new LastAdmin()
  return answer
}
