import { AuthError } from '../../errors.js'
import { nullOr, readFields, textIn } from '../../lib/json-fields.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'
import { requireName } from '../steps/require-account-fields.js'

type NewcomerPorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'random' | 'clock'>

/** How long somebody may take to say which address is theirs. */
export const newcomerSeconds = 15 * 60

/** Somebody whom a provider has identified, and who has no account and no address that we could rely on. */
export interface Newcomer {
  provider: string
  subject: string
  name: string | null
  /** What the provider says, or nothing: nobody has proved it to us. */
  email: string | null
}

/** Remembers them for this browser; the newest replaces the older. */
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

/** Who waits in this browser; null: nobody, or no longer. */
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

/** A name as the provider tells it, where it is one that anybody could have here. */
export function newcomerName(name: string | null): string | null {
  try {
    return requireName(name)
  } catch (refusal) {
    if (refusal instanceof AuthError) return null
    throw refusal
  }
}

/**
 * The extra fields of somebody who was asked for none: what the owner's schema makes of nothing. Where it wants some, there
 * are none, as with accounts that the application itself creates.
 */
export async function newcomerFields({ policy }: Pick<Ports, 'policy'>): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await policy.parseFields({})
  } catch (refusal) {
    if (refusal instanceof AuthError && refusal.code === 'invalid_request') return {}
    throw refusal
  }
}
