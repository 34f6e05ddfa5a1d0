import { AuthError } from '../../errors.js'
import { isUsable } from '../../model/factors/passkey.js'
import type { OneTimeToken, ResetPurpose } from '../../model/one-time-token.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { networkSource } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { hasPasskeyHere } from '../steps/usable-factors.js'
import { forgetFactorTries } from '../two-factor/second-factor.js'

type ResetPasswordPorts = Pick<
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
  | 'passkeys'
>

/** Whether a mailed link can still set a password. Only reads. */
export async function isResetLink(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>,
  token: string,
): Promise<boolean> {
  return (await findReset(ports, token)) !== null
}

/** The live token of a reset or an invitation. */
async function findReset(
  { oneTimeTokens, keyring, clock }: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>,
  secret: string,
): Promise<{ token: OneTimeToken; purpose: ResetPurpose } | null> {
  for (const purpose of resetPurposes) {
    const token = await oneTimeTokens.findByHash(purpose, keyring.digests(purpose, secret), clock.now())
    if (token) return { token, purpose }
  }
  return null
}

const resetPurposes: readonly ResetPurpose[] = ['password_reset', 'invite']

/**
 * Sets a new password by the mailed link of a reset or an invitation. It ends every session and does not sign in, because the next sign-in may ask for
 * more, such as a second factor (ASVS 5.0, 6.4.3). It returns whether this browser held a session of that user, which has
 * ended with the others.
 *
 * A refused password does not use the link up. Of concurrent calls with one link, one sets the password.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, replaced, expired, and of a disabled account look alike),
 *   `weak_password` with `reasons`, `busy`
 */
export async function resetPassword(
  ports: ResetPasswordPorts,
  input: { token: string; password: string; refreshToken: string | null; visitor: Visitor },
): Promise<{ endedHere: boolean }> {
  const found = await findReset(ports, input.token)
  const user = found?.token.userId ? await ports.users.findById(found.token.userId) : null
  if (!found || !user || isDisabled(user, ports.clock.now())) throw new AuthError('invalid_token')

  const { token, purpose } = found
  await requireStrong(ports, input.password, user.emailCanonical)
  const passwordHash = await ports.passwords.hash(input.password, networkSource(input.visitor))

  // The first proof removes a second factor. Its guesses are forgotten before the link is used up, so a failure can be retried.
  // Otherwise a person who knew the former password may have used up the guesses, and one new count opens (ATK-291).
  if (!user.emailVerified) await forgetFactorTries(ports, user.id)
  else await ports.limiter.reopenFactor(user.id)
  const changed = await ports.users.resetPassword(token.id, purpose, passwordHash, ports.clock.now(), {
    until: changeMattersUntil(ports),
    strict: ports.policy.adminEmails.includes(token.email),
    audit: auditEvent(ports, 'password_reset', input.visitor, {
      userId: user.id,
      detail: { firstProof: !user.emailVerified },
    }),
    ...(purpose === 'password_reset' && (await changeNotice(ports, user, input.visitor))),
  })
  if (!changed) throw new AuthError('invalid_token')
  // The user has proved the mailbox, so guesses of others must not lock them out any longer.
  await ports.limiter.forget('login', [user.emailCanonical])
  await ports.limiter.forget('shortCode', [user.emailCanonical])
  const held = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  return { endedHere: held?.sub === user.id }
}

/** The link has just proved the address. A reset leaves passkeys, so the mail names them; a first proof throws them away. */
async function changeNotice(ports: ResetPasswordPorts, user: UserRecord, { userAgent }: Visitor) {
  const held = user.emailVerified && hasPasskeyHere(ports, user) ? await ports.passkeys.list(user.id) : []
  const names = held.filter((passkey) => isUsable(passkey, ports.policy.passkeys)).map(({ name }) => name)
  const values = { passkeys: names.join(', '), url: `${ports.policy.authUrl}/account#passkeys` }
  return notice(ports, 'password-changed', { user: { ...user, emailVerified: true }, userAgent, values })
}

/**
 * Checks a new password against the rules, before anything is used up.
 *
 * @throws {AuthError} `weak_password` with `reasons`
 */
export async function requireStrong(
  ports: Pick<Ports, 'passwordFaults'>,
  password: string,
  emailCanonical: string,
): Promise<void> {
  const reasons = await ports.passwordFaults(password, emailCanonical)
  if (reasons.length > 0) throw new AuthError('weak_password', { reasons })
}
