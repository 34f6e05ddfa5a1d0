import { AuthError, type ErrorCode, invalidField } from '../../errors.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { OpenSessionPorts } from '../session/open-session.js'
import { refuseLogin } from '../session/open-session.js'
import { type SignInResult, signIn } from '../session/sign-in.js'
import { countPassword, type PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { type Applicant, holdsHandle, readApplicant } from './draft.js'
import { findByLink, guessVerification } from './guess-verification.js'
import { afterRegister, newUser, wayIn } from './register.js'

export type VerifyEmailPorts = OpenSessionPorts &
  PasswordLimitPorts &
  Pick<Ports, 'users' | 'oneTimeTokens' | 'passwords' | 'keyring' | 'audit'>

export interface VerifyEmailInput {
  /** From the mail's link. Otherwise `code`, with `email` in any browser except the one that registered. */
  token?: string
  email?: string | undefined
  code?: string
  /** Required in any browser except the one that registered. */
  password: string | null
  /** The handle of the browser that registered. */
  handle: string | null
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
  /** What the browser holds of a sign-in that waits for its second step. */
  challenge: string | null
}

/**
 * Confirms an address and signs in.
 *
 * In the browser that registered, one click (or the code) suffices. Any other browser must send the password, so that a
 * stranger cannot trick the owner of an address into confirming the stranger's registration.
 *
 * @throws {AuthError} `invalid_token` (unknown, used, expired, foreign and guessed too often look alike),
 *   `rate_limited` after too many guesses, `invalid_request` when the password is needed, `invalid_credentials` when it is wrong
 */
export async function verifyEmail(ports: VerifyEmailPorts, input: VerifyEmailInput): Promise<SignInResult> {
  const token = input.token === undefined ? await guessCode(ports, input) : await findByLink(ports, input.token)
  if (!token) return refuse(ports, null, input, 'invalid_token')
  return token.purpose === 'registration' ? confirmRegistration(ports, token, input) : confirmUser(ports, token, input)
}

async function guessCode(ports: VerifyEmailPorts, input: VerifyEmailInput): Promise<OneTimeToken | null> {
  const by = { userId: null, method: 'registration', visitor: input.visitor }
  return guessVerification(ports, input).catch((fault: unknown) => {
    // A request without a valid address is no sign-in, so it is not recorded as one.
    if (fault instanceof AuthError && fault.code === 'rate_limited') return refuseLogin(ports, by, fault)
    throw fault
  })
}

async function confirmRegistration(
  ports: VerifyEmailPorts,
  token: OneTimeToken,
  input: VerifyEmailInput,
): Promise<SignInResult> {
  const applicant = readApplicant(ports, token)
  if (!applicant) return refuse(ports, token, input, 'invalid_token')
  // Without a password only the browser that registered may confirm.
  const own = holdsHandle(ports, token, input.handle)
  if (applicant.passwordHash === null && !own) return refuse(ports, token, input, 'invalid_token')
  await requirePassword(ports, token, applicant.passwordHash, input)

  const user = confirmedUser(ports, token, applicant)
  const identity = applicant.identity && { ...applicant.identity, userId: user.id, linkedAt: user.createdAt }
  const audit = auditEvent(ports, 'account_created', input.visitor, { userId: user.id })
  const now = ports.clock.now()
  const created = await ports.users.createFromRegistration(user, token.id, now, audit, identity ?? undefined)
  if (!created) return refuse(ports, token, input, 'invalid_token')

  const { method, proof } = wayIn(applicant)
  await afterRegister(ports, { user, method, visitor: input.visitor, registration: token })
  return enter(ports, user, input, proof)
}

async function confirmUser(
  ports: VerifyEmailPorts,
  token: OneTimeToken,
  input: VerifyEmailInput,
): Promise<SignInResult> {
  const known = token.userId === null ? null : await ports.users.findById(token.userId)
  if (!known) return refuse(ports, token, input, 'invalid_token')
  await requirePassword(ports, token, known.passwordHash, input)
  // The registration's password would sign in here.
  if (known.mustReset) return refuse(ports, token, input, 'password_reset_required')

  const audit = auditEvent(ports, 'email_verified', input.visitor, { userId: known.id })
  const until = changeMattersUntil(ports)
  const user = await ports.users.verifyEmail(token.id, ports.clock.now(), until, audit)
  if (!user) return refuse(ports, token, input, 'invalid_token')
  return enter(ports, user, input, 'pwd')
}

/** A code was accepted with the handle or the password already. */
async function requirePassword(
  ports: VerifyEmailPorts,
  token: OneTimeToken,
  passwordHash: string | null,
  input: VerifyEmailInput,
): Promise<void> {
  if (input.token === undefined || holdsHandle(ports, token, input.handle)) return
  if (input.password === null) {
    throw invalidField('password', 'is needed, since this is not the browser that registered')
  }
  const { device, visitor } = input
  const tried = { address: token.email, userId: token.userId, device, visitor }
  const { failures, source } = await countPassword(ports, tried)
  const startedAt = ports.clock.monotonicMs()
  const check = await ports.passwords.verify(input.password, passwordHash, source)
  if (check.matches) return ports.limiter.forget('login', failures)
  await ports.passwords.floor(startedAt)
  return refuse(ports, token, input, 'invalid_credentials')
}

/** Confirming signs in, so a failure is a failed sign-in (ASVS 5.0, 16.3.1). */
function refuse(
  ports: VerifyEmailPorts,
  token: OneTimeToken | null,
  { visitor }: VerifyEmailInput,
  code: ErrorCode,
): Promise<never> {
  return refuseLogin(ports, { userId: token?.userId ?? null, method: 'registration', visitor }, new AuthError(code))
}

function confirmedUser(ports: VerifyEmailPorts, token: OneTimeToken, applicant: Applicant): UserRecord {
  const { email, name, fields, passwordHash, identity } = applicant
  const user = newUser(ports, { email, canonical: token.email, name, fields })
  const identities = identity ? [{ provider: identity.provider, linkedAt: user.createdAt }] : []
  return { ...user, passwordHash, emailVerified: true, verifiedBy: 'mailbox', identities }
}

function enter(
  ports: VerifyEmailPorts,
  user: UserRecord,
  { mode, visitor, device, challenge }: VerifyEmailInput,
  proof: string,
): Promise<SignInResult> {
  return signIn(ports, { user, mode, method: 'registration', amr: [proof], visitor, device, challenge })
}
