import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { createRequire } from 'node:module'
import type { sign } from 'jsonwebtoken'
import { createBase64urlReader } from '../lib/base64url.js'
import { deriveKeyId } from '../lib/digest.js'
import { parseJson } from '../lib/json-object.js'
import { type LateModule, lateModule } from '../lib/late-module.js'
import type { AccessClaims, RefreshClaims, Tokens } from './access-tokens.js'
import { createClaimsReader, type Parties } from './claims.js'

export interface TokenSettings extends Parties {
  /** The first signs, all verify. */
  accessSecrets: readonly string[]
  /** The first signs, all verify. */
  refreshSecrets: readonly string[]
}

/** Longer tokens are neither made nor read. A typical access token has some 500 characters. */
export const maxTokenLength = 4096

/** 32 bytes in base64url. */
const signatureLength = 43

interface Header {
  alg: 'HS256'
  /** RFC 8725 §3.11: explicit typing keeps one kind of token out of another's place. */
  typ: 'at+jwt' | 'rt+jwt'
  kid: string
}

/** The keys of one kind of token. */
interface Ring {
  signing: { header: Header; key: KeyObject }
  /** Each key with the start of its tokens: the header that we write, in base64url, and a dot. */
  keys: readonly { start: string; key: KeyObject }[]
}

/**
 * Our own tokens: JWTs with HS256, signed by jsonwebtoken, checked by a few synchronous lines.
 *
 * A check accepts only the exact header texts that we write. No header is ever parsed, so a forged `alg`, `kid`, `crit` or
 * `jku` has no effect. A check does not read the clock: the caller compares `exp` on every use. `iat` may lie ahead, because
 * the clock of another instance may.
 *
 * Signing throws when a check would refuse the result: a claim of the wrong type, or more than 4096 characters.
 *
 * @throws {Error} when there is no secret
 * @example
 * const tokens = createTokens({ accessSecrets, refreshSecrets, issuer: 'https://app.example', audience: installationId })
 * const claims = tokens.checkAccess(text)
 * if (claims === null || claims.exp <= now) refuse()
 */
export function createTokens(settings: TokenSettings): Tokens {
  const parties: Parties = { issuer: settings.issuer, audience: settings.audience }
  const reader = createClaimsReader(parties)
  const readText = createBase64urlReader(maxTokenLength)
  const access = createRing('at+jwt', settings.accessSecrets)
  const refresh = createRing('rt+jwt', settings.refreshSecrets)

  const signer = lateSigner()
  const signJwt = (payload: object, { header, key }: Ring['signing']) =>
    signer.get().sign(payload, key, { algorithm: 'HS256', header })

  function parsed(payload: string | null): unknown {
    const text = payload === null ? null : readText(payload)
    return text === null ? null : parseJson(text)
  }

  return {
    accessKeyId: access.signing.header.kid,
    prepareSigning: () => signer.load(),
    async checkSigning() {
      if (isBundled) await signer.load()
    },
    signAccess(claims) {
      const payload = accessPayload(parties, claims)
      if (reader.readAccess(payload) === null) throw new Error('access claims of the wrong type')
      return withinLimit(signJwt(payload, access.signing))
    },
    signRefresh(claims) {
      const payload = refreshPayload(parties, claims)
      if (reader.readRefresh(payload) === null) throw new Error('refresh claims of the wrong type')
      return withinLimit(signJwt(payload, refresh.signing))
    },
    checkAccess: (token) => reader.readAccess(parsed(openToken(token, access.keys))),
    checkRefresh: (token) => reader.readRefresh(parsed(openToken(token, refresh.keys))),
  }
}

/** The unparsed payload, in base64url, of a token that one of the keys signed; null if no key did. */
function openToken(token: string, keys: Ring['keys']): string | null {
  if (token.length > maxTokenLength) return null
  // `startsWith` costs V8 4,000 instructions more (counted with Node 20).
  const known = keys.find(({ start }) => token.slice(0, start.length) === start)
  // No search for further dots: neither base64url nor `sameText` accepts one.
  const end = token.length - signatureLength - 1
  if (known === undefined || end < known.start.length || token[end] !== '.') return null

  const expected = createHmac('sha256', known.key).update(token.slice(0, end)).digest('base64url')
  if (!sameText(token.slice(end + 1), expected)) return null
  return token.slice(known.start.length, end)
}

/** Compares texts in constant time. Texts, not bytes: two base64url spellings of the same bytes must not both be valid. */
function sameText(given: string, expected: string): boolean {
  // UTF-8, because Latin-1 would turn U+0141 into an `A`.
  const bytes = Buffer.from(given)
  return bytes.length === signatureLength && timingSafeEqual(bytes, Buffer.from(expected))
}

/** The `kid` of access tokens that are signed with this secret. */
export function accessKeyId(secret: string): string {
  return keyIdOf('at+jwt', secret)
}

function keyIdOf(typ: Header['typ'], secret: string): string {
  return deriveKeyId(secret, `latchkey key id ${typ}`)
}

function createRing(typ: Header['typ'], secrets: readonly string[]): Ring {
  const entries = secrets.map((secret) => {
    const header: Header = { alg: 'HS256', typ, kid: keyIdOf(typ, secret) }
    return { header, key: createSecretKey(Buffer.from(secret)) }
  })
  const [signing] = entries
  if (signing === undefined) throw new Error(`no secret for ${typ}`)

  const keys = entries.map(({ header, key }) => {
    return { start: `${Buffer.from(JSON.stringify(header)).toString('base64url')}.`, key }
  })
  return { signing, keys }
}

/** The order is fixed, so that the same claims give the same token. */
function accessPayload(parties: Parties, claims: AccessClaims): object {
  const { sub, sid, ctr, ver, email, email_verified, email_proved, roles, amr, auth_time, act, iat, exp } = claims
  const address = { email, email_verified, ...(email_proved && { email_proved }) }
  const user = { sub, sid, ctr, ver, ...address, roles: [...roles], amr: [...amr], auth_time, ...(act && { act }) }
  return { iss: parties.issuer, aud: parties.audience, ...user, iat, exp }
}

function refreshPayload(parties: Parties, { sub, sid, ctr, act, iat, exp }: RefreshClaims): object {
  return { iss: parties.issuer, aud: parties.audience, sub, sid, ctr, ...(act !== undefined && { act }), iat, exp }
}

function withinLimit(token: string): string {
  if (token.length > maxTokenLength)
    throw new Error(`the token has more than ${maxTokenLength} characters. Give the user fewer or shorter roles`)
  return token
}

/** jsonwebtoken takes 17 ms and 8 MB to load, and only sign-ins and refreshes need it. */
function lateSigner(): LateModule<{ sign: typeof sign }> {
  return lateModule(
    async () => (await import('jsonwebtoken').catch(explainBundle)).default,
    () => createRequire(import.meta.url)('jsonwebtoken'),
  )
}

/** Outside a bundle the package loads whenever it is installed, and costs nothing before it is needed. `.ci/build.js` names the file. */
const isBundled = !/\/(tokens\/jwt\.[jt]s|dist\/jwt-[\w-]{8}\.js)$/.test(String(import.meta.url))

/** jsonwebtoken is CommonJS: it calls `require`, which ES modules lack. */
function explainBundle(cause: unknown): never {
  if (!isBundled) throw cause
  throw new Error(
    "jsonwebtoken does not load in this bundle, which has no require. Bundle with --packages=external, or as CommonJS, or add this banner: import { createRequire as bundleRequire } from 'node:module'; const require = bundleRequire(import.meta.url);",
    { cause },
  )
}
