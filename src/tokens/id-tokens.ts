import { createHash } from 'node:crypto'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import { fetchText } from '../lib/bounded-fetch.js'
import { isObject, parseJsonObject } from '../lib/json-object.js'
import { type KeptDocument, keepDocument } from '../lib/kept-document.js'
import { nowSeconds, type World } from '../lib/runtime.js'
import type { IdTokenClaims, IdTokenFault, IdTokenRules, IdTokens } from '../model/id-token.js'

/** Only algorithms with a public key: a shared secret or `none` would prove nothing here (RFC 8725 §3.1 and §3.2). */
const considered = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']

/** Tolerance in seconds, because the clocks of two machines differ. */
const skewSeconds = 60
const keySetLimitMs = 10_000
const keySetLimitBytes = 256 * 1024

/** Our faults by the error codes of jose. */
const faults: Readonly<Record<string, IdTokenFault>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown_key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'unknown_key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'claims',
}

interface Opened {
  claims: IdTokenClaims
  algorithm: string
}

/**
 * Checks id_tokens by the key sets of their issuers, which are kept for an hour.
 *
 * An unknown key id causes another read of the set, at most once in a cool-down. Keys and URLs in a token's header (`jku`,
 * `jwk`, `x5u`) are never used, and `crit` is refused (RFC 8725 §3.10).
 */
export function createIdTokens(world: World): IdTokens {
  const keySets = new Map<string, KeptDocument<JWTVerifyGetKey>>()

  function keySetAt(url: string): KeptDocument<JWTVerifyGetKey> {
    const kept = keySets.get(url) ?? keepDocument(world, () => readKeySet(world, url))
    keySets.set(url, kept)
    return kept
  }

  return {
    async check(token, rules) {
      const keySet = keySetAt(rules.keySetUrl)
      const keys = await keySet.get().catch(() => null)
      if (keys === null) return { fault: 'keys_unavailable' }

      let opened = await openToken(token, rules.algorithms, keys, world)
      if (opened === 'unknown_key') {
        const renewed = await keySet.renew().catch(() => keys)
        if (renewed !== keys) opened = await openToken(token, rules.algorithms, renewed, world)
      }
      if (typeof opened === 'string') return { fault: opened }
      const fault = claimsFault(opened, rules, nowSeconds(world))
      return fault === null ? { claims: opened.claims } : { fault }
    },
  }
}

async function readKeySet(world: World, url: string): Promise<JWTVerifyGetKey> {
  const headers = { accept: 'application/json' }
  const text = await fetchText(world, { url, headers, limitMs: keySetLimitMs, limitBytes: keySetLimitBytes })
  const document: unknown = parseJsonObject(text)
  if (!isKeySet(document)) throw new Error('no key set')
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet(document)
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject)
}

/** Checks the signature, the times and the shape. */
async function openToken(
  token: string,
  algorithms: readonly string[],
  keys: JWTVerifyGetKey,
  world: World,
): Promise<Opened | IdTokenFault> {
  const { jwtVerify } = await import('jose')
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      algorithms: considered.filter((name) => algorithms.includes(name)),
      currentDate: new Date(world.now()),
      clockTolerance: skewSeconds,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
    })
    // Another kind of token in the place of this one, such as an access token (RFC 8725 §3.11, RFC 9068 §2.1).
    if (!['jwt', 'application/jwt', ''].includes((protectedHeader.typ ?? '').toLowerCase())) return 'malformed'
    return { claims: payload, algorithm: protectedHeader.alg }
  } catch (error) {
    const code: unknown = isObject(error) ? error.code : null
    return (typeof code === 'string' && faults[code]) || 'malformed'
  }
}

/** The checks of OpenID Connect Core §3.1.3.7 and §3.1.3.6, for a token with a valid signature that has not expired. */
function claimsFault({ claims, algorithm }: Opened, rules: IdTokenRules, now: number): IdTokenFault | null {
  const { iss, sub, aud, azp, iat, nonce, at_hash } = claims
  if (typeof iss !== 'string' || !rules.isIssuer(iss)) return 'issuer'
  if (typeof sub !== 'string' || sub === '') return 'claims'

  const audience = Array.isArray(aud) ? aud : [aud]
  if (!audience.includes(rules.clientId)) return 'audience'
  // A token for several audiences must name us as the authorized party.
  if (azp === undefined ? audience.length > 1 : azp !== rules.clientId) return 'authorized_party'

  if (typeof iat !== 'number' || iat > now + skewSeconds) return 'issued_at'
  if (nonce !== rules.nonce) return 'nonce'
  if (at_hash !== undefined && at_hash !== halfHash(rules.accessToken, algorithm)) return 'access_token_hash'
  return null
}

/** The left half of the hash. The hash function is that of the signature. */
function halfHash(accessToken: string, algorithm: string): string {
  const digest = createHash(algorithm.startsWith('Ed') ? 'sha512' : 'sha256')
    .update(accessToken)
    .digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
