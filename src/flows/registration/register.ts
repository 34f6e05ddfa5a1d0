import { AuthError } from '../../errors.js'
import { type EmailAddress, parseEmailAddress } from '../../lib/email-address.js'
import type { MailOutcome } from '../../model/mail-limit.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { type OpenSessionPorts, openSession } from '../session/open-session.js'
import { networkSource } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { isReserved } from '../steps/email-tokens.js'
import { changeMattersUntil, type IssuedSession } from '../steps/issue-tokens.js'
import { countMail, type MailAsker, type MailLimitPorts } from '../steps/mail-limit.js'
import { invalidEmail } from '../steps/require-account-fields.js'
import { runHook } from '../steps/run-hook.js'
import { type Applicant, draftRegistration, draftVerification, registrationPlaces } from './draft.js'

type RegisterPorts = OpenSessionPorts & MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'passwords' | 'passwordFaults'>

interface RegisterInput {
  email: string
  /** null: the account has none and is used with passkeys, or mailed codes. */
  password: string | null
  name: string | null
  fields: Readonly<Record<string, unknown>>
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
}

interface Registered {
  /** The browser keeps it. With it, one click or the code confirms. */
  handle: string
  /** Only if verification is optional: the account exists and is signed in. */
  created: Created | null
}

interface Created {
  issued: IssuedSession
  /** Whether the mail that confirms the address was sent. */
  mail: MailOutcome
}

/**
 * Registers an address.
 *
 * With required verification no account is made yet: the token of the registration holds everything, and the answer, its work
 * and its mail count are the same whether or not the address has an account (ASVS 5.0, 6.3.8).
 *
 * Without a password an address is always confirmed first, because nothing else would prove its owner.
 *
 * @throws {AuthError} `registration_disabled`, `invalid_request`, also without a password where the settings require one, `weak_password` with `reasons`, `busy`, `hook_failed`,
 *   and, if verification is optional, `email_taken`
 */
export async function register(ports: RegisterPorts, input: RegisterInput): Promise<Registered> {
  if (!ports.policy.registrationEnabled) throw new AuthError('registration_disabled')
  const email = await requireAddressAndPassword(ports, input)
  const fields = await ports.policy.parseFields(input.fields)

  const user = newUser(ports, { email: email.typed, canonical: email.canonical, name: input.name, fields })
  const method = input.password === null ? 'passkey' : 'password'
  await runHook(ports, 'beforeRegister', { user, method, visitor: input.visitor })
  const passwordHash =
    input.password === null ? null : await ports.passwords.hash(input.password, networkSource(input.visitor))

  const handle = ports.random.token()
  if (ports.policy.emailVerification === 'optional' && passwordHash !== null) {
    return { handle, created: await createAtOnce(ports, { ...user, passwordHash }, handle, input) }
  }
  await fileRegistration(ports, email.canonical, handle, {
    applicant: { email: email.typed, name: input.name, fields, passwordHash, identity: null },
    asker: input,
  })
  return { handle, created: null }
}

/** Reports a bad address together with a weak password, so that one attempt shows both. */
async function requireAddressAndPassword(
  { passwordFaults, policy }: Pick<Ports, 'passwordFaults' | 'policy'>,
  input: Pick<RegisterInput, 'email' | 'password'>,
): Promise<EmailAddress> {
  const email = parseEmailAddress(input.email)
  if (input.password === null && !policy.passkeys?.signUp) {
    const missing = { path: 'password', message: 'is required' }
    throw new AuthError('invalid_request', { errors: email ? [missing] : [invalidEmail(), missing] })
  }
  const reasons = input.password === null ? [] : await passwordFaults(input.password, email?.canonical ?? '')
  if (email && reasons.length > 0) throw new AuthError('weak_password', { reasons })
  if (email) return email
  const errors = [invalidEmail()]
  if (reasons.length === 0) throw new AuthError('invalid_request', { errors })
  errors.push({ path: 'password', message: 'is too weak' })
  throw new AuthError('invalid_request', { errors, reasons })
}

async function createAtOnce(
  ports: RegisterPorts,
  user: UserRecord,
  handle: string,
  { mode, visitor, device }: RegisterInput,
): Promise<Created> {
  const { emailCanonical: address } = user
  // Before the mail is counted: a registration that is refused must not use up the mails of the address's owner.
  const [existing, reserved] = await Promise.all([ports.users.findByEmail(address), isReserved(ports, address)])
  if (existing !== null || reserved) return refuseTaken(ports, existing, visitor)

  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id })
  // The address may be taken meanwhile, and then this user is never created.
  const asked = { asker: { visitor, device }, event: 'verification_requested', userId: null } as const
  const mail = await countMail(ports, { purpose: 'registration', address, ...asked })
  const confirm = mail.mailSent ? draftVerification(ports, user, handle) : undefined
  const created = await ports.users.create(user, audit, confirm)
  if (!created) return refuseTaken(ports, await ports.users.findByEmail(address), visitor)

  await afterRegister(ports, { user, method: 'password', visitor })
  const issued = await openSession(ports, { user, mode, method: 'registration', amr: ['pwd'], visitor, device })
  return { issued, mail }
}

async function refuseTaken(ports: RegisterPorts, existing: UserRecord | null, visitor: Visitor): Promise<never> {
  const facts = { userId: existing?.id ?? null, outcome: 'failure', detail: { reason: 'email_taken' } } as const
  await ports.audit.record(auditEvent(ports, 'registration_requested', visitor, facts))
  throw new AuthError('email_taken')
}

export type FileRegistrationPorts = MailLimitPorts & Pick<Ports, 'oneTimeTokens' | 'policy'>

/**
 * Keeps a registration and mails the link that confirms it. The work and its mail count are the same whether or not the
 * address has an account (OWASP ASVS 5.0, 6.3.8).
 *
 * Without room in the mail limit, nothing is mailed or kept: a registration without a mail cannot be confirmed, and it would
 * push out registrations that can.
 *
 * @param email canonical
 */
export async function fileRegistration(
  ports: FileRegistrationPorts,
  email: string,
  handle: string,
  { applicant, asker }: { applicant: Applicant; asker: MailAsker },
): Promise<void> {
  const [existing, reserved] = await Promise.all([ports.users.findByEmail(email), isReserved(ports, email)])
  const userId = existing?.id ?? null
  const event = 'registration_requested'
  const { mailSent } = await countMail(ports, { purpose: 'registration', address: email, asker, event, userId })
  if (!mailSent) return

  const isDecoy = existing !== null || reserved
  const { token, mail } = draftRegistration(ports, email, handle, { applicant, isDecoy, ip: asker.visitor.ip })
  await ports.oneTimeTokens.put(token, mail, {
    ...registrationPlaces,
    now: ports.clock.now(),
    audit: auditEvent(ports, event, asker.visitor, { userId, outcome: isDecoy ? 'failure' : 'success' }),
  })
}

/** A new user as it is first written. The caller sets `passwordHash`, `emailVerified` and `verifiedBy`. */
export function newUser(
  ports: Pick<Ports, 'clock' | 'random'>,
  from: { email: string; canonical: string; name: string | null; fields: Readonly<Record<string, unknown>> },
): UserRecord {
  return {
    id: ports.random.id(),
    email: from.email,
    emailCanonical: from.canonical,
    emailVerified: false,
    verifiedBy: null,
    name: from.name,
    passwordHash: null,
    roles: [],
    fields: from.fields,
    version: 1,
    disabledAt: null,
    disabledUntil: null,
    disabledReason: null,
    mustReset: false,
    factors: [],
    identities: [],
    createdAt: ports.clock.now(),
    lastLoginAt: null,
  }
}

/** How far the application's own word verifies the address of a new account. */
export function provedByApplication(emailVerified: boolean): Pick<UserRecord, 'emailVerified' | 'verifiedBy'> {
  return { emailVerified, verifiedBy: emailVerified ? 'application' : null }
}

/** How a confirmed applicant registered, and what the session has proved (RFC 8176). Without a password that is the mail. */
export function wayIn({ identity, passwordHash }: Applicant): { method: string; proof: string } {
  if (identity) return { method: `oauth:${identity.provider}`, proof: 'fed' }
  return passwordHash === null ? { method: 'passkey', proof: 'otp' } : { method: 'password', proof: 'pwd' }
}

/**
 * Runs the hook on an account that has just been created. If the hook refuses or fails, the account is deleted again, because
 * otherwise the denied user could sign in. If the hook fails, the used registration is restored, so that the same link and
 * code work when the hook does.
 *
 * @throws {AuthError} as `runHook`
 */
export async function afterRegister(
  ports: Pick<Ports, 'users' | 'oneTimeTokens' | 'hooks' | 'clock' | 'random' | 'policy'>,
  input: { user: UserRecord; method: string; visitor: Visitor; registration?: OneTimeToken },
): Promise<void> {
  try {
    await runHook(ports, 'afterRegister', input)
  } catch (refusal) {
    const { id: userId } = input.user
    const audit = auditEvent(ports, 'account_deleted', input.visitor, { userId, detail: { reason: 'hook' } })
    await ports.users.delete(userId, changeMattersUntil(ports), audit)
    if (input.registration && isOutage(refusal)) await putBack(ports, input.registration)
    throw refusal
  }
}

/** Whether the hook, or something that it needs, failed instead of refusing. */
function isOutage(refusal: unknown): boolean {
  return !(refusal instanceof AuthError) || refusal.status >= 500
}

async function putBack(ports: Pick<Ports, 'oneTimeTokens' | 'clock'>, registration: OneTimeToken): Promise<void> {
  await ports.oneTimeTokens.put(registration, null, { ...registrationPlaces, now: ports.clock.now() })
}
