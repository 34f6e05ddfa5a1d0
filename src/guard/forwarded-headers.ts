import type { RequestHeaders } from '../http/message.js'
import type { ForwardedHeaders } from '../http/verdict.js'
import type { Settings } from '../settings.js'

/** Headers by which servers behind a proxy are told who somebody is: only we may say that. */
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

/** By the code of a name's first character, whether such names begin with it: most headers need no closer look. */
const initials: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  [...identityHeaders].some((name) => name.charCodeAt(0) === code),
)

/**
 * Names of headers by which the client says who or where it is: all of them go, and none of it is believed.
 *
 * Most requests have none, so most get the same empty list.
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

/** What the application may believe instead: who the request is for and from where, by our own knowledge. */
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
