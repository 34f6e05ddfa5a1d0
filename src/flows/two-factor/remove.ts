import { AuthError } from '../../errors.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { factorNotice, forgetFactorTries } from './second-factor.js'

type RemovePorts = Pick<Ports, 'users' | 'mails' | 'clock' | 'random' | 'policy' | 'limiter'>

/**
 * Removes the second factor of a user who has lost it, for an administrator. Every session ends, and the user gets a notice.
 *
 * @throws {AuthError} `not_found`, also for an account without a second factor
 */
export async function removeFactor(
  ports: RemovePorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  const user = await findWithFactor(ports, id)
  const removed = user && (await remove(ports, user, visitor))
  // Also when the factor is gone already, because an earlier call may have failed halfway.
  await forgetFactorTries(ports, id)
  if (!removed) throw new AuthError('not_found')
}

function remove(ports: RemovePorts, user: UserRecord, visitor: Visitor): Promise<UserRecord | null> {
  const facts = { userId: user.id, detail: { twoFactor: false } }
  return ports.users.updateAccount(
    user.id,
    { twoFactor: false },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'account_updated', visitor, facts),
      ...factorNotice(ports, { user, visitor, change: 'off' }),
    },
  )
}

/** The user, if a factor is on that can be removed; otherwise null. */
export async function findWithFactor({ users }: Pick<Ports, 'users'>, id: string): Promise<UserRecord | null> {
  const user = await users.findById(id)
  return user && hasFactor(user) ? user : null
}
