import { AuthError, invalidField } from '../../errors.js'
import { parseEmailAddress } from '../../lib/email-address.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { requireOther } from './require-other.js'

type RemovePorts = Pick<Ports, 'users' | 'clock' | 'random' | 'policy' | 'home'>

/**
 * Deletes an account for good; false when there was no such account.
 *
 * @throws {AuthError} `would_lock_out` for the own account and the last administrator (in the host `last_admin`)
 */
export async function removeAccount(
  ports: RemovePorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<boolean> {
  requireOther(visitor, id)
  const audit = auditEvent(ports, 'account_deleted', visitor, { userId: id })
  const removed = await ports.users.delete(id, changeMattersUntil(ports), audit, ports.policy.adminEmails)
  if (removed === 'last_admin') throw lastAdminFault(ports)
  return removed
}

/**
 * The same for an administrator, who repeats the address of the account.
 *
 * @throws {AuthError} `not_found`, `would_lock_out`, `invalid_request` for another address
 */
export async function removeConfirmedAccount(
  ports: RemovePorts,
  { id, confirm, visitor }: { id: string; confirm: string; visitor: Visitor },
): Promise<void> {
  const user = await ports.users.findById(id)
  if (!user) throw new AuthError('not_found')
  if (parseEmailAddress(confirm)?.canonical !== user.emailCanonical) {
    throw invalidField('confirm', 'must be the address of the account')
  }
  if (!(await removeAccount(ports, { id, visitor }))) throw new AuthError('not_found')
}
