import type { RequestHeaders } from '../http/message.js'
import type { ForwardedHeaders } from '../http/verdict.js'
import type { Settings } from '../settings.js'

/** Headers by which a proxy names the signed-in user to servers behind it. Only we may set them. */
const identityHeaders: ReadonlySet<string> = new Set([
  'forwarded',
  'remote-user',
  'x-api-key',
  'x-auth-request-email',
  'x-auth-request-user',
  'x-auth-user',
  'x-authenticated-user',
  'x-authenticated-userid',
  'x-jwt-decoded',
  'x-principal',
  'x-real-ip',
  'x-remote-user',
  'x-request-id',
  'x-scheme',
  'x-user',
  'x-user-email',
  'x-user-id',
  'x-user-roles',
])

const none: readonly string[] = Object.freeze([])

/** First characters of these names, by character code. Most headers start with another one and need no further check. */
const initials: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  [...identityHeaders].some((name) => name.charCodeAt(0) === code),
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
    if (!identityHeaders.has(name) && !name.startsWith('x-forwarded-')) continue
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
