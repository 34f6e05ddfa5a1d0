import { isDeepStrictEqual } from 'node:util'
import { AuthError } from '../errors.js'
import { parseJsonObject } from '../lib/json-object.js'
import { remember } from '../lib/remember.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { KeySetRules, KeySetState } from '../model/key-set.js'
import type { JwtPrincipal } from '../model/principal.js'
import type { ForeignFault, ForeignToken, ForeignTokens } from '../tokens/foreign-tokens.js'
import type { JwtCheck } from './credentials.js'

/** Checks JWTs of another issuer with its current key set. */
export interface Jwts extends JwtCheck {
  /** Uses this key set from now on; null: there is no other issuer. */
  use(keySet: KeySetSource | null): void
  /** Whether this principal's token has expired or was checked with a former key set. */
  isOver(principal: JwtPrincipal): boolean
  /** The key set in force; null: there is no other issuer. */
  keySet(): KeySetState | null
  close(): void
}

/** Where a key set is, and what its tokens must fulfil. */
export interface KeySetSource {
  url: string
  rules: KeySetRules
}

export interface JwtsOptions {
  clock: Pick<SharedClock, 'now'>
  tokensOf(keySet: KeySetSource): ForeignTokens
}

/** How the guard answers an unusable token. All but the first two look alike from outside. */
const answers: Readonly<Partial<Record<ForeignFault['fault'], () => AuthError>>> = {
  keys_unavailable: () => new AuthError('jwks_unavailable', { retryAfterSeconds: 30 }),
  expired: () => new AuthError('token_expired', { explain: 'bearer: expired' }),
}

/**
 * Chooses the verifier of a bearer token by the header's `alg` alone: HS256 is ours, everything else is the other issuer's,
 * never both (RFC 8725 §3.1). We refuse a token with an unreadable header ourselves, without fetching a key set.
 */
export function createJwts({ clock, tokensOf }: JwtsOptions): Jwts {
  let inForce: { keySet: KeySetSource; tokens: ForeignTokens } | null = null
  const checked = new WeakMap<JwtPrincipal, { by: ForeignTokens; expiresAt: number }>()
  const namesForeign = remember(namesAnotherAlgorithm)

  function accept(found: ForeignToken | ForeignFault, now: number): JwtPrincipal {
    if ('fault' in found) throw faultOf(found)
    if (found.expiresAt <= now) throw faultOf({ fault: 'expired' })
    return found.principal
  }

  return {
    isExclusive: () => inForce?.keySet.rules.exclusive === true,
    isForeign: (token) => inForce !== null && namesForeign(token.slice(0, Math.max(0, token.indexOf('.')))),
    recall(header, at) {
      const found = inForce === null ? null : inForce.tokens.recall(header, at)
      return found === null ? null : accept(found, at.now)
    },
    async check(token, header) {
      const asked = inForce
      const found = await asked?.tokens.check(token, header)
      // The key set changed during the check, so the result does not count.
      if (found === undefined || asked !== inForce) throw new AuthError('unauthenticated')
      const principal = accept(found, clock.now())
      if (asked !== null && !('fault' in found))
        checked.set(principal, { by: asked.tokens, expiresAt: found.expiresAt })
      return principal
    },
    isOver(principal) {
      const known = checked.get(principal)
      return known === undefined || known.by !== inForce?.tokens || known.expiresAt <= clock.now()
    },
    use(keySet) {
      if (isDeepStrictEqual(keySet, inForce?.keySet ?? null)) return
      inForce?.tokens.close()
      inForce = keySet && { keySet, tokens: tokensOf(keySet) }
    },
    keySet: () => inForce?.tokens.keySet() ?? null,
    close: () => inForce?.tokens.close(),
  }
}

function faultOf({ fault }: ForeignFault): AuthError {
  return answers[fault]?.() ?? new AuthError('unauthenticated', { explain: `bearer: ${fault.replaceAll('_', ' ')}` })
}

function namesAnotherAlgorithm(header: string): boolean {
  const alg = parseJsonObject(Buffer.from(header, 'base64url').toString())?.alg
  return typeof alg === 'string' && alg !== 'HS256'
}
