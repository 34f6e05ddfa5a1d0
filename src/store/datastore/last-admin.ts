import { isProved } from '../../model/admin-role.js'
import { toUser } from '../user-rows.js'
import type { AdminEmails } from '../users.js'
import type { View } from './engine/unit.js'
import { findByEmail, isEnabled } from './user-rows.js'

/** Whether that account is the only one left with the role ADMIN. */
export async function isLastAdmin(view: View, id: string, emails: AdminEmails, now: number): Promise<boolean> {
  const rows = await Promise.all(emails.map((email) => findByEmail(view, email)))
  const admins = rows.filter((row) => row !== null && isProved(toUser(row)) && isEnabled(row, now))
  return admins.length === 1 && admins[0]?.id === id
}
