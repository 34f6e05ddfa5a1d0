import type { RequestHeaders } from '../http/message.js'
import type { ForwardedHeaders } from '../http/verdict.js'
import type { Settings } from '../settings.js'

/**
 * Headers by which platforms and proxies claim an identity, an address or another target. Only we may set them, so a client's
 * own are removed. A name that ends in `*` stands for all names that begin like it. Credentials of an application's own
 * (`x-auth-token`) and `x-user-agent` stay.
 */
export const claimingHeaders: readonly string[] = Object.freeze([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'client-ip',
  'fastly-client-ip',
  'forwarded',
  'remote-user',
  'true-client-ip',
  'x-api-key',
  'x-auth-request-*',
  'x-auth-user',
  'x-authenticated-*',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-forwarded-*',
  'x-groups',
  'x-impersonated-by',
  'x-jwt-decoded',
  'x-ms-client-principal*',
  'x-original-url',
  'x-principal',
  'x-real-ip',
  'x-remote-*',
  'x-request-id',
  'x-rewrite-url',
  'x-roles',
  'x-scheme',
  'x-user',
  'x-user-email',
  'x-user-groups',
  'x-user-id',
  'x-user-name',
  'x-user-role',
  'x-user-roles',
])

const names: ReadonlySet<string> = new Set(claimingHeaders.filter((name) => !name.endsWith('*')))
const prefixes: readonly string[] = claimingHeaders
  .filter((name) => name.endsWith('*'))
  .map((name) => name.slice(0, -1))

const none: readonly string[] = Object.freeze([])

/** First characters of these names, by character code. Most headers start with another one and need no further check. */
const initials: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  claimingHeaders.some((name) => name.charCodeAt(0) === code),
)

/**
 * Names of headers with which the client claims an identity or an address. All of them are removed.
 *
 * Most requests have none and share one empty list.
 */
export function findSpoofedHeaders(headers: RequestHeaders): readonly string[] {
  let found: string[] | null = null
  for (const name in headers) {
    if (!initials[name.charCodeAt(0)]) continue
    if (!names.has(name) && !prefixes.some((prefix) => name.startsWith(prefix))) continue
    found ??= []
    found.push(name)
  }
  return found ?? none
}

/** The trusted values that replace them: host, protocol and client address as we know them. */
export function createForwardedHeaders(
  settings: Pick<Settings, 'origin'>,
): (ip: string | null, requestId: string, apiKey: string | null) => ForwardedHeaders {
  const url = new URL(settings.origin)
  const { host } = url
  const scheme = url.protocol.slice(0, -1)
  const port = url.port || (scheme === 'https' ? '443' : '80')

  return (ip, requestId, apiKey) => ({
    'x-request-id': requestId,
    'x-real-ip': ip,
    'x-forwarded-for': ip,
    'x-forwarded-host': host,
    'x-forwarded-port': port,
    'x-forwarded-proto': scheme,
    'x-forwarded-scheme': scheme,
    'x-scheme': scheme,
    'x-api-key': apiKey,
  })
}
