import { isProved } from '../../model/admin-role.js'
import { isDisabled } from '../../model/user.js'
import { LastAdmin } from '../refused.js'
import { users } from '../tables.js'
import type { Unit } from '../unit.js'
import { toUser } from '../user-rows.js'
import type { AdminEmails } from '../users.js'

/** Whether that account is the only one left with the role ADMIN. First locks the row of every administrator. */
export async function isLastByRole(
  unit: Pick<Unit, 'find'>,
  id: string,
  emails: AdminEmails,
  now: number,
): Promise<boolean> {
  if (emails.length === 0) return false
  const query = { email_canonical: { in: emails } }
  await unit.find(users, query, { sort: { id: 1 }, lock: true })
  // Read again: PostgreSQL does not find rows that the former lock holder has committed meanwhile.
  const rows = await unit.find(users, query)
  const usable = rows.map(toUser).filter((user) => isProved(user) && !user.mustReset && !isDisabled(user, now))
  return usable.length === 1 && usable[0]?.id === id
}

/**
 * Runs a change after which the account may not be usable any more. The rows that decide are locked before it.
 *
 * @throws {LastAdmin} when the change takes the last administrator away
 */
export async function keepingAdmin<T>(
  unit: Pick<Unit, 'isLastAdmin'>,
  { id, emails, now }: { id: string; emails: AdminEmails; now: number },
  change: () => Promise<T>,
): Promise<T> {
  const wasLast = await unit.isLastAdmin(id, emails, now)
  const answer = await change()
  if (wasLast && !(await unit.isLastAdmin(id, emails, now))) throw new LastAdmin()
  return answer
}
