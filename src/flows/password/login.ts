import { AuthError, type ErrorCode } from '../../errors.js'
import type { HashSource } from '../../model/imported-account.js'
import type { MailOutcome } from '../../model/mail-limit.js'
import type { SessionMode } from '../../model/session.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { readTypedHash } from '../registration/draft.js'
import { judgeAndMailAgain, mailAgain, type ResendPorts } from '../registration/resend-verification.js'
import type { OpenSessionPorts } from '../session/open-session.js'
import { refuseLogin } from '../session/open-session.js'
import { type SignInResult, signIn } from '../session/sign-in.js'
import { countPassword, type PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { requireEmail } from '../steps/require-account-fields.js'

export type LoginPorts = OpenSessionPorts &
  ResendPorts &
  PasswordLimitPorts &
  Pick<Ports, 'users' | 'passwords' | 'audit'>

export interface LoginInput {
  email: string
  password: string
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. */
  challenge: string | null
}

/**
 * Checks an address and password and signs in.
 *
 * It compares the account's hash, or a dummy, so that an unknown address takes as long as a wrong password (OWASP ASVS 5.0,
 * 6.3.8). If a registration waits there, its hash is compared as well, whether or not there is an account: a stranger who
 * registers an address and tries the typed password gets the same answer in both cases (ATK-001). Faults beyond the password
 * are reported only after the right one.
 *
 * Every comparison is counted before it begins, so that concurrent tries cannot pass the limit. While the limit is reached,
 * the right password is refused like a wrong one (ASVS 5.0, 6.3.1). Only the account's own password resets the count.
 *
 * @throws {AuthError} `rate_limited`, `invalid_credentials`, `email_not_verified`, `account_disabled`,
 *   `password_reset_required`, `busy`, `hook_failed`
 */
export async function login(ports: LoginPorts, input: LoginInput): Promise<SignInResult> {
  const startedAt = ports.clock.monotonicMs()
  const email = requireEmail(input.email).canonical
  const [user, [waiting]] = await Promise.all([
    ports.users.findByEmail(email),
    ports.oneTimeTokens.listByEmail('registration', email, ports.clock.now()),
  ])
  const tried = { address: email, userId: user?.id ?? null, device: input.device, visitor: input.visitor }
  const { failures, source } = await countPassword(ports, tried).catch((fault: unknown) =>
    refuseLogin(ports, { userId: tried.userId, method: null, visitor: input.visitor }, fault),
  )
  const stored = user?.passwordHash ?? null
  // In parallel: one after the other, the time would reveal that a registration waits.
  const [check, waits] = await Promise.all([
    ports.passwords.verify(input.password, stored, source),
    waiting && ports.passwords.verify(input.password, readTypedHash(ports, waiting), source),
  ])
  if (!user || !check.matches) {
    const registered = waits?.matches ? waiting : undefined
    const mail = registered && (await mailAgain(ports, registered, input))
    // For an account it is a wrong password like any other.
    await auditFailure(ports, user, input, registered && !user ? 'email_not_verified' : undefined)
    await ports.passwords.floor(startedAt)
    throw mail ? emailNotVerified(mail) : new AuthError('invalid_credentials')
  }
  await ports.limiter.forget('login', failures)

  const fault = mustReset(ports, user) ?? (await judgeAndMailAgain(ports, user, input))
  if (fault) {
    await auditFailure(ports, user, input, fault.code)
    throw fault.mail ? emailNotVerified(fault.mail) : new AuthError(fault.code)
  }
  if (check.outdated && stored !== null) await upgrade(ports, user, { stored, password: input.password, source })
  const { mode, visitor, device, challenge } = input
  return signIn(ports, { user, mode, method: 'password', amr: ['pwd'], visitor, device, challenge })
}

/** A disabled account gets that answer instead: no reset link would work there. */
function mustReset({ clock }: Pick<Ports, 'clock'>, user: UserRecord): { code: ErrorCode; mail: null } | null {
  return user.mustReset && !isDisabled(user, clock.now()) ? { code: 'password_reset_required', mail: null } : null
}

function emailNotVerified(mail: MailOutcome): AuthError {
  const next = mail.mailSent
    ? 'We have sent you a new mail.'
    : 'No new mail was sent, because this address has had several. Use the last one, or try again later.'
  return new AuthError('email_not_verified', { detail: `Confirm your email address first. ${next}`, mail })
}

/** With `reason` the password was right, which makes the event more important (ASVS 5.0, 16.3.1). */
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

/** Rehashes with today's scheme. The sign-in does not depend on it: if the queue is full, a later sign-in does it. */
async function upgrade(
  ports: LoginPorts,
  user: UserRecord,
  { stored, password, source }: { stored: string; password: string; source: HashSource },
): Promise<void> {
  try {
    await ports.users.upgradePasswordHash(user.id, stored, await ports.passwords.hash(password, source))
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
  }
}
