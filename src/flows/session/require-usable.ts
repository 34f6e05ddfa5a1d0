import { AuthError } from '../../errors.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'

/**
 * Requires an account that may be used, after the right proof.
 *
 * @throws {AuthError} `account_disabled`, `email_not_verified`
 */
export function requireUsable({ clock, policy }: Pick<Ports, 'clock' | 'policy'>, user: UserRecord): void {
  if (isDisabled(user, clock.now())) throw new AuthError('account_disabled')
  if (!user.emailVerified && policy.emailVerification === 'required') throw new AuthError('email_not_verified')
}
