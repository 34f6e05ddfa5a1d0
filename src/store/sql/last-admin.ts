import { provingWays } from '../../model/admin-role.js'
import type { LastAdminCheck } from './engine/steps.js'
import { isEnabled } from './user-rows.js'

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
    .execute()
  return admins.length === 1 && admins[0]?.id === id
}
