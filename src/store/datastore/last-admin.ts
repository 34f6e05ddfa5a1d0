import { isProved } from '../../model/admin-role.js'
import { LastAdmin } from '../refused.js'
import type { UsersTable } from '../rows.js'
import { toUser } from '../user-rows.js'
import type { AdminEmails } from '../users.js'
import type { View } from './engine/unit.js'
import { findByEmail, isEnabled } from './user-rows.js'

/** Whether that account is the only one left with the role ADMIN. */
export async function isLastAdmin(view: View, id: string, emails: AdminEmails, now: number): Promise<boolean> {
  const rows = await Promise.all(emails.map((email) => findByEmail(view, email)))
  const admins = rows.filter((row) => row !== null && isUsable(row, now))
  return admins.length === 1 && admins[0]?.id === id
}

function isUsable(row: UsersTable, now: number): boolean {
  const user = toUser(row)
  return isProved(user) && !user.mustReset && isEnabled(row, now)
}

/**
 * Runs a change after which the account may not be usable any more.
 *
 * @throws {LastAdmin} when it was the last administrator, and is none afterwards
 */
export async function keepingAdmin<T>(
  view: View,
  { id, emails, now }: { id: string; emails: AdminEmails; now: number },
  change: () => Promise<T>,
): Promise<T> {
  const wasLast = await isLastAdmin(view, id, emails, now)
  const answer = await change()
  if (wasLast && !(await isLastAdmin(view, id, emails, now))) throw new LastAdmin()
  return answer
}
