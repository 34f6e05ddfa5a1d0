import type { KeyObject } from 'node:crypto'
import type { JWTPayload, JWTVerifyOptions } from 'jose'
import { deepFreeze } from '../lib/deep-freeze.js'
import { isObject, parseJsonObject } from '../lib/json-object.js'
import type { Reach } from '../lib/public-fetch.js'
import type { World } from '../lib/runtime.js'
import type { SharedClock } from '../lib/shared-clock.js'
import type { Logger } from '../settings.js'
import type { ForeignFault, ForeignToken, ForeignTokens } from './foreign-tokens.js'
import type { KeySet } from './key-set.js'
import { createKeySource, type KeySource } from './key-source.js'
import { createVerifiedCache, type VerifiedCache } from './verified-cache.js'

/** The rules for tokens of the other issuer. */
export interface ForeignRules {
  /** The URL of the key set. */
  url: string
  reach: Reach
  /** null: not checked. */
  issuer: string | null
  /** Empty: not checked. Otherwise the token must name at least one of them. */
  audience: readonly string[]
  algorithms: readonly string[]
}

/** Characters. Other issuers put groups and profiles into tokens, and Node accepts 16 KiB for all headers together. */
const longestToken = 8192
/** Tolerance in seconds, because the clocks of two machines differ. */
const skewSeconds = 60
/** Entries of the cache. Fewer than for our tokens, because these hold more claims and are larger. */
const rememberedTokens = 5_000

/** Our faults by the error codes of jose. */
const faults: Readonly<Record<string, ForeignFault['fault']>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_EXPIRED: 'expired',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'header',
}
const claimFaults: Readonly<Record<string, ForeignFault['fault']>> = {
  iss: 'issuer',
  aud: 'audience',
  nbf: 'not_yet_valid',
}

interface Verifier {
  rules: ForeignRules
  clock: Pick<SharedClock, 'nowMs'>
  source: KeySource
  verified: VerifiedCache<ForeignToken>
}

/**
 * Checks tokens of the issuer whose key set is at that URL. It starts reading the set at once.
 *
 * Keys and URLs in a token's header (`jku`, `jwk`, `x5u`, `x5c`) are never used, and `crit` is refused (RFC 8725 §3.10,
 * RFC 7515 §4.1.11). Verified tokens stay in the cache as long as the set keeps its keys.
 */
export function createForeignTokens(
  rules: ForeignRules,
  { world, clock, logger }: { world: World; clock: Pick<SharedClock, 'nowMs'>; logger: Logger },
): ForeignTokens {
  const verified = createVerifiedCache<ForeignToken>(rememberedTokens)
  const { url, reach, algorithms } = rules
  const source = createKeySource({ url, reach, algorithms, world, logger, onChange: verified.clear })
  const verifier: Verifier = { rules, clock, source, verified }
  return {
    recall(sent, at) {
      const known = verified.get(sent)
      // A check waits for keys that are being read.
      return source.current(at) === null ? null : known
    },
    check: (token, sent) => verify(verifier, token, sent),
    keySet: source.state,
    close: source.close,
  }
}

async function verify(verifier: Verifier, token: string, sent: string): Promise<ForeignToken | ForeignFault> {
  const { rules, source, verified } = verifier
  const header = readHeader(token)
  if (header === null) return { fault: 'malformed' }
  const { alg, kid, crit } = header
  if (typeof alg !== 'string' || !rules.algorithms.includes(alg)) return { fault: 'algorithm' }
  if (crit !== undefined || (kid !== undefined && typeof kid !== 'string')) return { fault: 'header' }

  const set = source.current() ?? (await source.settled())
  if (set === null) return { fault: 'keys_unavailable' }
  const found = await findKeys(source, set, alg, kid)
  if (found.keys.length === 0) return { fault: 'unknown_key' }
  const opened = await openWithAny(verifier, token, alg, found.keys)
  // Not cached if the keys have changed meanwhile.
  if (!('fault' in opened) && source.current() === found.set) verified.set(sent, opened)
  return opened
}

async function findKeys(source: KeySource, set: KeySet, alg: string, kid: string | undefined) {
  const keys = set.matching(alg, kid)
  if (keys.length > 0) return { set, keys }
  const renewed = await source.renew(set)
  return { set: renewed, keys: renewed?.matching(alg, kid) ?? [] }
}

/** Several keys are tried only if they share a key id, or if the token names none. */
async function openWithAny(
  verifier: Verifier,
  token: string,
  alg: string,
  keys: readonly KeyObject[],
): Promise<ForeignToken | ForeignFault> {
  let opened: ForeignToken | ForeignFault = { fault: 'unknown_key' }
  for (const key of keys) {
    opened = await openToken(verifier, token, alg, key)
    if (!('fault' in opened && opened.fault === 'signature')) break
  }
  return opened
}

async function openToken(
  { rules: { issuer, audience }, clock }: Verifier,
  token: string,
  alg: string,
  key: KeyObject,
): Promise<ForeignToken | ForeignFault> {
  const { jwtVerify } = await import('jose')
  const options: JWTVerifyOptions = {
    algorithms: [alg],
    currentDate: new Date(clock.nowMs()),
    clockTolerance: skewSeconds,
    requiredClaims: ['exp', 'sub'],
    ...(issuer === null ? {} : { issuer }),
    ...(audience.length === 0 ? {} : { audience: [...audience] }),
  }
  try {
    const { payload } = await jwtVerify(token, key, options)
    return toForeignToken(payload)
  } catch (error) {
    return { fault: faultOf(error) }
  }
}

function toForeignToken(payload: JWTPayload): ForeignToken | ForeignFault {
  const { sub: subject, iss: issuer = '', exp } = payload
  if (typeof subject !== 'string' || subject === '' || typeof issuer !== 'string') return { fault: 'claims' }
  if (typeof exp !== 'number' || !Number.isFinite(exp)) return { fault: 'claims' }
  const principal = deepFreeze({ kind: 'jwt' as const, subject, issuer, claims: payload })
  return Object.freeze({ principal, expiresAt: exp + skewSeconds })
}

function faultOf(error: unknown): ForeignFault['fault'] {
  if (!isObject(error)) return 'malformed'
  const { code, claim } = error
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return claimFaults[String(claim)] ?? 'claims'
  return faults[String(code)] ?? 'malformed'
}

/** Accepts exactly three base64url parts; null if they are malformed or the first is no JSON object. */
function readHeader(token: string): Readonly<Record<string, unknown>> | null {
  if (token.length > longestToken || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
  return parseJsonObject(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString())
}
