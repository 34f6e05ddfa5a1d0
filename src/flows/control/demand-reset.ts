import { AuthError } from '../../errors.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { draftReset } from '../password/draft-reset.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { requireOther } from './require-other.js'

export type DemandResetPorts = Pick<Ports, 'users' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'home'>

/**
 * Demands a new password of a user: a reset link is mailed, every session ends, and pending sign-ins, codes, device approvals
 * and remembered devices are dropped. Until a reset or `setPassword`, the right password answers `password_reset_required`. A
 * mailed code and a linked provider still sign in.
 *
 * @throws {AuthError} `not_found`, `would_lock_out` for the administrator's own account and the last administrator (in the
 *   host `last_admin`)
 */
export async function demandReset(
  ports: DemandResetPorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  requireOther(visitor, id)
  const user = await ports.users.findById(id)
  if (!user) throw new AuthError('not_found')
  const { token, mail } = draftReset(ports, user.emailCanonical, user)
  const audit = auditEvent(ports, 'password_reset_requested', visitor, { userId: id, detail: { demanded: true } })
  const step = { until: changeMattersUntil(ports), audit, mail }
  const demanded = await ports.users.demandReset(id, token, step, ports.policy.adminEmails)
  if (demanded === 'last_admin') throw lastAdminFault(ports)
  if (!demanded) throw new AuthError('not_found')
}
