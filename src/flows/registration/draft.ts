import { coarseNetwork } from '../../lib/ip-address.js'
import { type Fields, fieldsIn, nullOr, readFields, textIn } from '../../lib/json-fields.js'
import type { Identity } from '../../model/identity.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { OutboxMail } from '../../model/outbox-mail.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { digestCode } from '../steps/mailed-code.js'

/** The sealed content of a registration's token until its address is confirmed. */
export interface Applicant {
  email: string
  name: string | null
  /** null if the user signs in by an identity or a passkey. */
  passwordHash: string | null
  /** The login at a provider that the account will have. */
  identity: Pick<Identity, 'provider' | 'subject'> | null
  fields: Readonly<Record<string, unknown>>
}

type RegistrationPorts = Pick<Ports, 'keyring' | 'random' | 'mails' | 'policy' | 'clock'>

/**
 * Live registrations of one address. There are several, so that a stranger's does not replace the owner's. The network with
 * the most of them loses its oldest: fewer than three networks cannot push out the only one of another network. Three can
 * use up all mails of the address in any case (ATK-215).
 */
export const registrationPlaces = { keep: 3, sharedBy: 'email' } as const

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
 * The purposes under which registrations are sealed. A decoy has another purpose, so that no code that makes accounts can
 * open it. Its text has the same size, so that the size reveals nothing.
 */
const sealedFor = { account: 'registration-payload', decoy: 'registration-decoy' } as const

/**
 * A registration that waits for its mail. For an address that has an account already it is a decoy: the same rows and the
 * same work, but nothing to confirm, and the mail informs the owner (OWASP ASVS 5.0, 6.3.8).
 */
export function draftRegistration(
  ports: RegistrationPorts,
  email: string,
  handle: string,
  { applicant, isDecoy, ip }: { applicant: Applicant; isDecoy: boolean; ip: string | null },
): Drafted {
  const id = ports.random.id()
  const row = { id, purpose: 'registration', email } as const
  const { mail, ...secrets } = draftSecrets(ports, row)
  const token: OneTimeToken = {
    ...row,
    ...secrets,
    subject: `${email} ${networkDigest(ports, ip)}`,
    userId: null,
    handleHash: ports.keyring.digest('registration-handle', handle),
    payload: ports.keyring.seal(isDecoy ? sealedFor.decoy : sealedFor.account, id, JSON.stringify(applicant)),
    tries: 0,
    createdAt: ports.clock.now(),
  }
  return { token, mail: isDecoy ? accountExistsMail(ports, email) : mail }
}

/** Short, so that it fits beside the longest address. Keyed, so that it does not reveal where a registration came from. */
function networkDigest({ keyring }: Pick<Ports, 'keyring'>, ip: string | null): string {
  return keyring.digest('registration-network', coarseNetwork(ip) ?? 'unknown').slice(-22)
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

/** The mail to the owner of an account whose address was registered again, by the owner or another person. */
export function accountExistsMail(ports: Pick<Ports, 'mails' | 'policy'>, email: string): OutboxMail {
  return ports.mails.compose('account-exists', email, { url: `${ports.policy.authUrl}/login` })
}

/** The sealed applicant; null for a decoy, when the key that sealed it is gone, or when the text is no applicant. */
export function readApplicant(ports: Pick<Ports, 'keyring'>, token: OneTimeToken): Applicant | null {
  return openSealed(ports, token, sealedFor.account)
}

/** The hash of the typed password, also of a decoy. It is only for comparing a sign-in with it. */
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
