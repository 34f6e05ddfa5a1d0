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

/** Longer ones are neither made nor looked at; a typical access token has some 500 characters. */
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
  /** Each with what its tokens begin with: the header that we write, in base64url, and the point behind it. */
  keys: readonly { start: string; key: KeyObject }[]
}

/**
 * Our own tokens: JWTs with HS256, signed by jsonwebtoken, checked by a few synchronous lines.
 *
 * A check accepts only the exact header texts that we write, so no header is ever parsed and no `alg`, `kid`, `crit` or
 * `jku` of a stranger can choose anything. It does not ask the clock: `exp` is there and sound, but whether it has passed
 * (and whether `iat` lies ahead, as another instance's clock may make it) is the caller's question on every use.
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
    prepareSigning: () => signer.load(),
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

/** The payload of a token that one of the keys signed, in base64url and still to be read; null when none did. */
function openToken(token: string, keys: Ring['keys']): string | null {
  if (token.length > maxTokenLength) return null
  // `startsWith` took V8 4,000 instructions more (Node 20, counted).
  const known = keys.find(({ start }) => token.slice(0, start.length) === start)
  // Further points are not looked for: base64url is read without one, `sameText` a signature.
  const end = token.length - signatureLength - 1
  if (known === undefined || end < known.start.length || token[end] !== '.') return null

  const expected = createHmac('sha256', known.key).update(token.slice(0, end)).digest('base64url')
  if (!sameText(token.slice(end + 1), expected)) return null
  return token.slice(known.start.length, end)
}

/** Compares as text, in constant time: bytes have one canonical spelling only, so a token cannot have two. */
function sameText(given: string, expected: string): boolean {
  // UTF-8, not Latin-1: the latter would cut U+0141 down to an `A`.
  const bytes = Buffer.from(given)
  return bytes.length === signatureLength && timingSafeEqual(bytes, Buffer.from(expected))
}

function createRing(typ: Header['typ'], secrets: readonly string[]): Ring {
  const entries = secrets.map((secret) => {
    const header: Header = { alg: 'HS256', typ, kid: deriveKeyId(secret, `latchkey key id ${typ}`) }
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
  const { sub, sid, ctr, ver, email, email_verified, roles, amr, auth_time, iat, exp } = claims
  const user = { sub, sid, ctr, ver, email, email_verified, roles: [...roles], amr: [...amr], auth_time }
  return { iss: parties.issuer, aud: parties.audience, ...user, iat, exp }
}

function refreshPayload(parties: Parties, { sub, sid, ctr, iat, exp }: RefreshClaims): object {
  return { iss: parties.issuer, aud: parties.audience, sub, sid, ctr, iat, exp }
}

function withinLimit(token: string): string {
  if (token.length > maxTokenLength)
    throw new Error(`the token has more than ${maxTokenLength} characters: too many roles`)
  return token
}

/** jsonwebtoken takes 17 ms and 8 MB to load, and only sign-ins and refreshes need it. */
function lateSigner(): LateModule<{ sign: typeof sign }> {
  return lateModule(
    async () => (await import('jsonwebtoken')).default,
    () => createRequire(import.meta.url)('jsonwebtoken'),
  )
}
