import { AuthError } from '../../errors.js'
import { isDisabled } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { forgetFactorTries } from '../two-factor/second-factor.js'
import { requireStrong } from './new-password.js'

export type ResetPasswordPorts = Pick<
  Ports,
  | 'users'
  | 'oneTimeTokens'
  | 'passwords'
  | 'passwordFaults'
  | 'keyring'
  | 'mails'
  | 'random'
  | 'clock'
  | 'policy'
  | 'limiter'
  | 'tokens'
>

/**
 * Sets a new password by the mailed link. Ends every session and signs nobody in: what else the account asks for at a
 * sign-in is asked at the next one (ASVS 5.0, 6.4.3). Tells whether the browser itself held a session of that user, which
 * is worth nothing any more.
 *
 * A password that is refused does not use the link up. Of many that hold one link, one sets the password.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, replaced, expired, and of a disabled account look alike),
 *   `weak_password` with `reasons`, `busy`
 */
export async function resetPassword(
  ports: ResetPasswordPorts,
  input: { token: string; password: string; refreshToken: string | null; visitor: Visitor },
): Promise<{ endedHere: boolean }> {
  const hashes = ports.keyring.digests('password_reset', input.token)
  const token = await ports.oneTimeTokens.findByHash('password_reset', hashes, ports.clock.now())
  const user = token?.userId ? await ports.users.findById(token.userId) : null
  if (!token || !user || isDisabled(user, ports.clock.now())) throw new AuthError('invalid_token')

  await requireStrong(ports, input.password, user.emailCanonical)
  const passwordHash = await ports.passwords.hash(input.password)

  // The first proof drops a planted second factor; before the link is used up, so that it can be tried again.
  if (!user.emailVerified) await forgetFactorTries(ports, user.id)
  const changed = await ports.users.resetPassword(token.id, passwordHash, ports.clock.now(), {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'password_reset', input.visitor, {
      userId: user.id,
      detail: { firstProof: !user.emailVerified },
    }),
    // The link has just proved whose address it is.
    ...notice(ports, 'password-changed', {
      user: { ...user, emailVerified: true },
      userAgent: input.visitor.userAgent,
    }),
  })
  if (!changed) throw new AuthError('invalid_token')
  // Whoever was locked out by another's guesses has proved the mailbox: the way in is open again.
  await ports.limiter.forget('login', [user.emailCanonical])
  const held = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  return { endedHere: held?.sub === user.id }
}
