import { AuthError } from '../errors.js'
import { parseJsonObject } from '../lib/json-object.js'
import { remember } from '../lib/remember.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { JwtPrincipal } from '../model/principal.js'
import type { ForeignFault, ForeignToken, ForeignTokens } from '../tokens/foreign-tokens.js'
import type { JwtCheck } from './credentials.js'

/** The JWTs of another issuer, by whatever key set is in force. */
export interface Jwts extends JwtCheck {
  /** From now on by the key set at that address; null: there is no other issuer. */
  use(url: string | null): void
  /** Whether whoever came in by that token may be here no more: it has expired, or another key set is in force. */
  isOver(principal: JwtPrincipal): boolean
  close(): void
}

export interface JwtsOptions {
  /** Nothing else is a credential while there is a key set. */
  exclusive: boolean
  clock: Pick<SharedClock, 'now'>
  tokensOf(url: string): ForeignTokens
}

/** How the guard answers a token that counts for nothing. All but the first two look alike from outside. */
const answers: Readonly<Partial<Record<ForeignFault['fault'], () => AuthError>>> = {
  keys_unavailable: () => new AuthError('jwks_unavailable', { retryAfterSeconds: 30 }),
  expired: () => new AuthError('token_expired', { explain: 'bearer: expired' }),
}

/**
 * Decides by the header's `alg` alone who checks a bearer token: HS256 is ours, anything else the other issuer's, never
 * both (RFC 8725 §3.1). What has no header that can be read is ours to refuse, and never has a key set asked for.
 */
export function createJwts({ exclusive, clock, tokensOf }: JwtsOptions): Jwts {
  let inForce: { url: string; tokens: ForeignTokens } | null = null
  const checked = new WeakMap<JwtPrincipal, { by: ForeignTokens; expiresAt: number }>()
  const namesForeign = remember(namesAnotherAlgorithm)

  function accept(found: ForeignToken | ForeignFault, now: number): JwtPrincipal {
    if ('fault' in found) throw faultOf(found)
    if (found.expiresAt <= now) throw faultOf({ fault: 'expired' })
    return found.principal
  }

  return {
    isExclusive: () => exclusive && inForce !== null,
    isForeign: (token) => inForce !== null && namesForeign(token.slice(0, Math.max(0, token.indexOf('.')))),
    recall(header, at) {
      const found = inForce === null ? null : inForce.tokens.recall(header, at)
      return found === null ? null : accept(found, at.now)
    },
    async check(token, header) {
      const asked = inForce
      const found = await asked?.tokens.check(token, header)
      // What was checked by keys that are in force no more is worth nothing.
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
    use(url) {
      if (url === (inForce?.url ?? null)) return
      inForce?.tokens.close()
      inForce = url === null ? null : { url, tokens: tokensOf(url) }
    },
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
