import type { RequestHeaders } from '../http/message.js'
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
  'x-scheme',
  'x-user',
  'x-user-email',
  'x-user-id',
  'x-user-roles',
])

/** What such names begin with: most headers of a request need no closer look. */
const initials: ReadonlySet<number> = new Set([...identityHeaders].map((name) => name.charCodeAt(0)))

/**
 * The request headers as application code may trust them: who it is for and from where by our own knowledge,
 * and nothing that the client said of itself. null = take away.
 */
export function createForwardedHeaders(
  settings: Pick<Settings, 'origin'>,
): (headers: RequestHeaders, ip: string | null, requestId: string) => Record<string, string | null> {
  const url = new URL(settings.origin)
  const { host } = url
  const scheme = url.protocol.slice(0, -1)
  const port = url.port || (scheme === 'https' ? '443' : '80')

  return (headers, ip, requestId) => {
    const changed: Record<string, string | null> = {
      'x-request-id': requestId,
      'x-real-ip': ip,
      'x-forwarded-for': ip,
      'x-forwarded-host': host,
      'x-forwarded-port': port,
      'x-forwarded-proto': scheme,
      'x-forwarded-scheme': scheme,
      'x-scheme': scheme,
    }
    for (const name in headers) {
      if (!initials.has(name.charCodeAt(0)) || name in changed) continue
      if (identityHeaders.has(name) || name.startsWith('x-forwarded-')) changed[name] = null
    }
    return changed
  }
}
