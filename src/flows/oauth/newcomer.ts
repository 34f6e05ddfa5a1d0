import { AuthError } from '../../errors.js'
import { nullOr, readFields, textIn } from '../../lib/json-fields.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'
import { type FileRegistrationPorts, fileRegistration, newUser } from '../registration/register.js'
import type { MailAsker } from '../steps/mail-limit.js'
import { requireEmail, requireName } from '../steps/require-account-fields.js'
import { runHook } from '../steps/run-hook.js'

type NewcomerPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'random' | 'clock'>

/** How long a visitor may take to enter their address. */
export const newcomerSeconds = 15 * 60

/** A visitor whom a provider has identified, without an account and without a reliable address. */
interface Newcomer {
  provider: string
  subject: string
  name: string | null
  /** The provider's claim, if any. It is not proved to us. */
  email: string | null
}

/** Keeps the newcomer for this browser. The newest replaces the older. */
export async function keepNewcomer(ports: NewcomerPorts, handle: string, newcomer: Newcomer): Promise<void> {
  const id = ports.random.id()
  const now = ports.clock.now()
  const token: OneTimeToken = {
    id,
    purpose: 'oauth_identity',
    subject: ports.keyring.digest('oauth-handle', handle),
    userId: null,
    email: '',
    tokenHash: ports.keyring.digest('oauth_identity', handle),
    codeHash: null,
    handleHash: null,
    payload: ports.keyring.seal('oauth-identity', id, JSON.stringify(newcomer)),
    tries: 0,
    createdAt: now,
    expiresAt: now + newcomerSeconds,
  }
  await ports.oneTimeTokens.put(token, null, { keep: 1, now })
}

/** The newcomer in this browser; null without one, and after it has expired. */
export async function findNewcomer(ports: NewcomerPorts, handle: string | null): Promise<Newcomer | null> {
  if (handle === null) return null
  const hashes = ports.keyring.digests('oauth_identity', handle)
  const token = await ports.oneTimeTokens.findByHash('oauth_identity', hashes, ports.clock.now())
  const text = token?.payload ? ports.keyring.open('oauth-identity', token.id, token.payload) : null
  return readFields(text, (fields) => ({
    provider: textIn(fields, 'provider'),
    subject: textIn(fields, 'subject'),
    name: nullOr(fields, 'name', textIn),
    email: nullOr(fields, 'email', textIn),
  }))
}

/** The provider's name for the user, if our rules allow it. */
export function newcomerName(name: string | null): string | null {
  try {
    return requireName(name)
  } catch (refusal) {
    if (refusal instanceof AuthError) return null
    throw refusal
  }
}

/**
 * The extra fields of a newcomer, who was not asked for any: the result of the application's schema for an empty object. If
 * the schema requires fields, the newcomer gets no fields, like an account that the application creates.
 */
export async function newcomerFields({ policy }: Pick<Ports, 'policy'>): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await policy.parseFields({})
  } catch (refusal) {
    if (refusal instanceof AuthError && refusal.code === 'invalid_request') return {}
    throw refusal
  }
}

type RegisterIdentityPorts = FileRegistrationPorts & Pick<Ports, 'hooks'>

/**
 * Registers a newcomer with the address that they enter, as `register` does. The registration waits for the mail, and the
 * answer is the same whether or not the address has an account. As long as this browser holds the newcomer, they may enter
 * another address.
 *
 * @returns the handle that the browser keeps; without a password, nothing else can confirm
 * @throws {AuthError} `invalid_token` without a newcomer in this browser, `registration_disabled`, `invalid_request`,
 *   `hook_failed`
 */
export async function registerIdentity(
  ports: RegisterIdentityPorts,
  input: MailAsker & { email: string; handle: string | null },
): Promise<string> {
  if (!ports.policy.registrationEnabled) throw new AuthError('registration_disabled')
  const newcomer = await findNewcomer(ports, input.handle)
  if (!newcomer) throw new AuthError('invalid_token')
  const email = requireEmail(input.email)
  const { provider, subject, name } = newcomer
  const fields = await newcomerFields(ports)

  const user = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields })
  await runHook(ports, 'beforeRegister', { user, method: `oauth:${provider}`, visitor: input.visitor })
  const handle = ports.random.token()
  await fileRegistration(ports, email.canonical, handle, {
    applicant: { email: email.typed, name, fields, passwordHash: null, identity: { provider, subject } },
    asker: input,
  })
  return handle
}
