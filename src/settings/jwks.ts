import { z } from 'zod'
import type { FieldError } from '../errors.js'
import { namesPrivateAddress, type Reach } from '../lib/public-fetch.js'
import { isSecureUrl, parseHttpUrl } from '../lib/url.js'

import type { KeySetRules } from '../model/key-set.js'
import { either, nothing, oneOrMore, orNull, shortText, text } from './field.js'

/** Signatures with a public key (RFC 7518 §3.1, RFC 8037, RFC 9864). */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/**
 * Hosts whose one key set signs the tokens of many applications. Without an audience, this API would also accept a token that
 * was made for another application.
 */
const sharedHosts = [
  'www.googleapis.com',
  'accounts.google.com',
  'securetoken.google.com',
  'www.gstatic.com',
  'appleid.apple.com',
  'login.microsoftonline.com',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'login.windows.net',
  'sts.windows.net',
  'login.live.com',
  'www.facebook.com',
  'limited.facebook.com',
  'token.actions.githubusercontent.com',
  'gitlab.com',
  'oidc.circleci.com',
  'slack.com',
  'www.linkedin.com',
  'id.twitch.tv',
  'api.login.yahoo.com',
  'access.line.me',
  'api.line.me',
  'discord.com',
  'kauth.kakao.com',
  'agent.buildkite.com',
]

const algorithm = text(
  `must be one of: ${algorithms.join(', ')}; HS256 and its like verify with a shared secret and are never looked up in a key set`,
  (value) => (algorithms.includes(value) ? value : null),
)

/** The setting's default. */
export const defaultAlgorithms: readonly string[] = ['RS256']

const url = text('must be an https URL without fragment and password (http on loopback in development)', (value) =>
  isKeySetUrl(value) ? value : null,
)

function isKeySetUrl(value: string): boolean {
  const parsed = parseHttpUrl(value)
  return parsed !== null && isSecureUrl(parsed) && !value.includes('#')
}

const parts = z.strictObject({
  url,
  issuer: orNull(shortText(512)),
  audience: orNull(oneOrMore('must be a text or a list of texts', shortText(512))),
  algorithms: oneOrMore('must be a list of algorithms', algorithm).prefault([...defaultAlgorithms]),
  exclusive: z.boolean().default(false),
  allowPrivate: z.boolean().default(false),
})

const storedRules = parts.pick({ issuer: true, audience: true, algorithms: true, exclusive: true })

/**
 * The rules of a key set that are stored with its URL, read as the setting reads its own. Absent ones have the setting's
 * defaults. The faults quote no value.
 */
export function readKeySetRules(input: unknown): { rules: KeySetRules } | { faults: FieldError[] } {
  const parsed = storedRules.safeParse(input)
  if (parsed.success) return { rules: { ...parsed.data, audience: parsed.data.audience ?? [] } }
  const faults = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
  return { faults }
}

export interface JwksInput {
  /** Address of the key set (RFC 7517). https; http on loopback in development. */
  url: string
  /** What `iss` must be. Default: not checked. */
  issuer?: string | undefined
  /** What `aud` must name. Default: not checked, with a warning. Required for hosts that sign the tokens of many applications. */
  audience?: string | readonly string[] | undefined
  /** Accepted signature algorithms. Default: `['RS256']`. */
  algorithms?: string | readonly string[] | undefined
  /** Only these JWTs give access: no API token, no session, no bearer token of Latchkey. Default: false. */
  exclusive?: boolean | undefined
  /** The key set may be at a private address. Default: false. */
  allowPrivate?: boolean | undefined
}

export const jwks = either<string | JwksInput, z.output<typeof parts>>((value) =>
  typeof value === 'string'
    ? url.transform((address) => parts.parse(Object.assign(nothing(), { url: address })))
    : parts,
)

/** The fault of a key set's URL, in the settings or set at run time; null if it has none. */
export function keySetUrlFault(
  value: string,
  { audience, reach }: { audience: readonly string[] | 'any'; reach: Reach },
): { part: 'url' | 'audience'; message: string } | null {
  if (!isKeySetUrl(value)) return { part: 'url', message: 'must be an https URL without fragment and password' }
  const { protocol, hostname } = new URL(value)
  if (protocol === 'http:' && !reach.allowLoopback) {
    return { part: 'url', message: 'must be https outside development' }
  }
  if (namesPrivateAddress(hostname, reach)) {
    return { part: 'url', message: 'must not be a private address unless allowPrivate says so' }
  }
  if (audience.length > 0 || !sharedHosts.includes(hostname)) return null
  return {
    part: 'audience',
    message: 'is required, because this provider also signs tokens for other applications',
  }
}
