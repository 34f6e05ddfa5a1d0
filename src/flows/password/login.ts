import { AuthError, type ErrorCode } from '../../errors.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readTypedHash } from '../registration/draft.js'
import { judgeAndMailAgain } from '../registration/judge-and-mail-again.js'
import { mailAgain, type ResendPorts } from '../registration/resend-verification.js'
import type { OpenSessionPorts } from '../session/open-session.js'
import { refuseLogin } from '../session/refuse-login.js'
import { type SignInResult, signIn } from '../session/sign-in.js'
import { countPassword, type PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { requireEmail } from '../steps/require-email.js'

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
 * The account's hash is compared, or a dummy, so that an unknown address costs as much as a wrong password (OWASP ASVS
 * 5.0, 6.3.8). Where a registration waits there, its hash is compared as well, whether or not there is an account: a
 * stranger who registers an address and tries what they typed is told the same of both (ATK-001). What is wrong beyond
 * the password is said only after the right one.
 *
 * Every comparison is counted before it begins, so that no number of them at once gets past the limit; while it is
 * reached, the right password is refused like a wrong one (ASVS 5.0, 6.3.1). Only the account's own password makes
 * failures forgotten.
 *
 * @throws {AuthError} `rate_limited`, `invalid_credentials`, `email_not_verified`, `account_disabled`, `busy`, `hook_failed`
 */
export async function login(ports: LoginPorts, input: LoginInput): Promise<SignInResult> {
  const startedAt = ports.clock.monotonicMs()
  const email = requireEmail(input.email).canonical
  const [user, [waiting]] = await Promise.all([
    ports.users.findByEmail(email),
    ports.oneTimeTokens.listByEmail('registration', email, ports.clock.now()),
  ])
  const tried = { address: email, userId: user?.id ?? null, device: input.device }
  const failures = await countPassword(ports, tried).catch((fault: unknown) =>
    refuseLogin(ports, { userId: tried.userId, method: null, visitor: input.visitor }, fault),
  )
  const stored = user?.passwordHash ?? null
  // At once: one after the other, the time would tell that something waits.
  const [check, waits] = await Promise.all([
    ports.passwords.verify(input.password, stored),
    waiting && ports.passwords.verify(input.password, readTypedHash(ports, waiting)),
  ])
  if (!user || !check.matches) {
    const registered = waits?.matches ? waiting : undefined
    if (registered) await mailAgain(ports, registered, input.visitor)
    // At an account it is a wrong password like any other.
    await auditFailure(ports, user, input, registered && !user ? 'email_not_verified' : undefined)
    await ports.passwords.floor(startedAt)
    throw new AuthError(registered ? 'email_not_verified' : 'invalid_credentials')
  }
  await ports.limiter.forget('login', failures)

  const fault = await judgeAndMailAgain(ports, user, input.visitor)
  if (fault) {
    await auditFailure(ports, user, input, fault)
    throw new AuthError(fault)
  }
  if (check.outdated && stored !== null) await upgrade(ports, user, stored, input.password)
  const { mode, visitor, device } = input
  return signIn(ports, { user, mode, method: 'password', amr: ['pwd'], visitor, device })
}

/** With `reason` the password was right, which is worth knowing all the more (ASVS 5.0, 16.3.1). */
async function auditFailure(
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
