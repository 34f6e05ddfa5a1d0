import { AuthError, type ErrorCode } from '../errors.js'
import type { SessionMode } from '../model/session.js'
import type { UserRecord } from '../model/user.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import { countPassword, type PasswordLimitPorts } from './account-limits.js'
import { auditEvent } from './audit.js'
import type { OpenSessionPorts } from './open-session.js'
import { readApplicant } from './registration.js'
import { requireEmail } from './require-email.js'
import { usableFault } from './require-usable.js'
import { mailAgain, type ResendPorts } from './resend-verification.js'
import { type SignInResult, signIn } from './sign-in.js'

export type LoginPorts = OpenSessionPorts &
  ResendPorts &
  PasswordLimitPorts &
  Pick<Ports, 'users' | 'passwords' | 'audit'>

export interface LoginInput {
  email: string
  password: string
  mode: SessionMode
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
}

/**
 * Checks an address and password and signs in.
 *
 * Exactly one hash is compared: the account's, else that of the newest pending registration, else a dummy, so that an
 * unknown address costs as much as a wrong password (OWASP ASVS 5.0, 6.3.8). What is wrong beyond the password is
 * said only after the right one.
 *
 * Every comparison is counted before it begins, so that no number of them at once gets past the limit; while it is
 * reached, the right password is refused like a wrong one (ASVS 5.0, 6.3.1).
 *
 * @throws {AuthError} `rate_limited`, `invalid_credentials`, `email_not_verified`, `account_disabled`, `busy`, `hook_failed`
 */
export async function login(ports: LoginPorts, input: LoginInput): Promise<SignInResult> {
  const startedAt = ports.clock.monotonicMs()
  const email = requireEmail(input.email).canonical
  const [user, pending] = await Promise.all([
    ports.users.findByEmail(email),
    ports.oneTimeTokens.listByEmail('registration', email, ports.clock.now()),
  ])
  const registration = user ? null : (pending[0] ?? null)
  const stored = user ? user.passwordHash : registration && (readApplicant(ports, registration)?.passwordHash ?? null)

  const failures = await countPassword(ports, { address: email, userId: user?.id ?? null, device: input.device })
  const check = await ports.passwords.verify(input.password, stored)
  if (!check.matches) {
    await auditRefusal(ports, user, input)
    await ports.passwords.floor(startedAt)
    throw new AuthError('invalid_credentials')
  }
  await ports.limiter.forget('login', failures)
  if (registration) {
    await mailAgain(ports, registration)
    await auditRefusal(ports, null, input, 'email_not_verified')
    throw new AuthError('email_not_verified')
  }
  if (!user) throw new AuthError('invalid_credentials')

  const fault = await usableFault(ports, user)
  if (fault) {
    await auditRefusal(ports, user, input, fault)
    throw new AuthError(fault)
  }
  if (check.outdated && stored !== null) await upgrade(ports, user, stored, input.password)
  const { mode, visitor, device } = input
  return signIn(ports, { user, mode, method: 'password', amr: ['pwd'], visitor, device })
}

/** With `reason` the password was right, which is worth knowing all the more (ASVS 5.0, 16.3.1). */
async function auditRefusal(
  ports: LoginPorts,
  user: UserRecord | null,
  { visitor }: LoginInput,
  reason?: ErrorCode,
): Promise<void> {
  const detail = reason === undefined ? {} : { reason }
  const facts = { userId: user?.id ?? null, outcome: 'failure', detail } as const
  await ports.audit.record(auditEvent(ports, 'login', visitor, facts))
}

/** Rehashes under today's scheme. The sign-in does not depend on it: a full queue leaves it for the next time. */
async function upgrade(ports: LoginPorts, user: UserRecord, stored: string, password: string): Promise<void> {
  try {
    await ports.users.upgradePasswordHash(user.id, stored, await ports.passwords.hash(password))
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
  }
}
