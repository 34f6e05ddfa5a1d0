import { type Fields, fieldsIn, nullOr, readFields, textIn } from '../../lib/json-fields.js'
import type { Identity } from '../../model/identity.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { digestCode } from '../steps/mailed-code.js'

/** What waits inside a registration's token until its address is confirmed. */
export interface Applicant {
  email: string
  name: string | null
  /** null where an identity lets in. */
  passwordHash: string | null
  /** The login at a provider that the account will have. */
  identity: Pick<Identity, 'provider' | 'subject'> | null
  fields: Readonly<Record<string, unknown>>
}

type RegistrationPorts = Pick<Ports, 'keyring' | 'random' | 'mails' | 'policy' | 'clock'>

/** Registrations that may be live side by side for one address, so that nobody can replace another's. */
export const registrationsSideBySide = 3

/** A mail's secrets and the row that keeps only their digests. */
export interface Drafted {
  token: OneTimeToken
  mail: OutboxMail
}

/**
 * New secrets for a confirmation, with the mail that carries them.
 *
 * The mail greets without a name: until the address is confirmed, the name may be a stranger's text.
 */
export function draftSecrets(
  ports: RegistrationPorts,
  row: Pick<OneTimeToken, 'id' | 'purpose' | 'email'>,
): Pick<OneTimeToken, 'tokenHash' | 'codeHash' | 'expiresAt'> & { mail: OutboxMail } {
  const secret = ports.random.token()
  const code = ports.random.code(ports.policy.codeDigits)
  return {
    tokenHash: ports.keyring.digest(row.purpose, secret),
    codeHash: digestCode(ports, row, code),
    expiresAt: ports.clock.now() + ports.policy.verificationSeconds,
    mail: ports.mails.compose('verify', row.email, {
      url: `${ports.policy.authUrl}/verify-email?token=${secret}`,
      code,
    }),
  }
}

/**
 * What a registration is sealed for. A decoy's purpose is another, so that nothing which makes accounts can open it
 * whatever becomes of the row; its text is the same, so that its size tells nothing.
 */
const sealedFor = { account: 'registration-payload', decoy: 'registration-decoy' } as const

/**
 * A registration that waits for its mail. For an address that has an account already it is a decoy: the same rows and
 * the same work, but nothing to confirm, and the mail tells the owner (OWASP ASVS 5.0, 6.3.8).
 */
export function draftRegistration(
  ports: RegistrationPorts,
  email: string,
  handle: string,
  { applicant, isDecoy }: { applicant: Applicant; isDecoy: boolean },
): Drafted {
  const id = ports.random.id()
  const row = { id, purpose: 'registration', email } as const
  const { mail, ...secrets } = draftSecrets(ports, row)
  const token: OneTimeToken = {
    ...row,
    ...secrets,
    subject: email,
    userId: null,
    handleHash: ports.keyring.digest('registration-handle', handle),
    payload: ports.keyring.seal(isDecoy ? sealedFor.decoy : sealedFor.account, id, JSON.stringify(applicant)),
    tries: 0,
    createdAt: ports.clock.now(),
  }
  return { token, mail: isDecoy ? accountExistsMail(ports, email) : mail }
}

/** The confirmation of an account that exists already; `handle` is null when no browser asked for it. */
export function draftVerification(ports: RegistrationPorts, user: UserRecord, handle: string | null): Drafted {
  const row = { id: ports.random.id(), purpose: 'email_verification', email: user.emailCanonical } as const
  const { mail, ...secrets } = draftSecrets(ports, row)
  const token: OneTimeToken = {
    ...row,
    ...secrets,
    subject: user.id,
    userId: user.id,
    handleHash: handle === null ? null : ports.keyring.digest('registration-handle', handle),
    payload: null,
    tries: 0,
    createdAt: ports.clock.now(),
  }
  return { token, mail }
}

/** The mail to somebody whose address another person, or they themselves, tried to register again. */
export function accountExistsMail(ports: Pick<Ports, 'mails' | 'policy'>, email: string): OutboxMail {
  return ports.mails.compose('account-exists', email, { url: `${ports.policy.authUrl}/login` })
}

/** The applicant inside; null for a decoy, when the key that sealed it is gone, or when the text is no applicant. */
export function readApplicant(ports: Pick<Ports, 'keyring'>, token: OneTimeToken): Applicant | null {
  return openSealed(ports, token, sealedFor.account)
}

/** The hash of the password that was typed, a decoy's too: to compare a sign-in with, and for nothing else. */
export function readTypedHash(ports: Pick<Ports, 'keyring'>, token: OneTimeToken): string | null {
  const typed = readApplicant(ports, token) ?? openSealed(ports, token, sealedFor.decoy)
  return typed?.passwordHash ?? null
}

function openSealed(ports: Pick<Ports, 'keyring'>, { id, payload }: OneTimeToken, purpose: string): Applicant | null {
  if (payload === null) return null
  return readFields(ports.keyring.open(purpose, id, payload), (fields) => ({
    email: textIn(fields, 'email'),
    name: nullOr(fields, 'name', textIn),
    passwordHash: nullOr(fields, 'passwordHash', textIn),
    identity: nullOr(fields, 'identity', identityIn),
    fields: fieldsIn(fields, 'fields'),
  }))
}

function identityIn(fields: Fields, name: string): Applicant['identity'] {
  const identity = fieldsIn(fields, name)
  return { provider: textIn(identity, 'provider'), subject: textIn(identity, 'subject') }
}

/** Whether this is the browser (or client) that asked for the token. */
export function holdsHandle(ports: Pick<Ports, 'keyring'>, token: OneTimeToken, handle: string | null): boolean {
  if (handle === null || token.handleHash === null) return false
  return ports.keyring.digests('registration-handle', handle).includes(token.handleHash)
}
