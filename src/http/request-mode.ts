import { AuthError } from '../errors.js'
import type { CookieJar } from './cookies.js'
import type { HttpRequest } from './message.js'
import type { RouteContext } from './route.js'

/**
 * Clients without cookies send `X-Auth-Mode: token`. Browsers may not: a script could trade the cookie for a token.
 *
 * @throws {AuthError} `forbidden`
 */
export function modeOf(request: HttpRequest, cookies: CookieJar): RouteContext['mode'] {
  const asked = request.headers['x-auth-mode']
  if (asked === undefined) return 'cookie'
  if (asked !== 'token') {
    throw new AuthError('invalid_request', { errors: [{ path: 'X-Auth-Mode', message: 'must be token' }] })
  }
  const browser =
    request.headers.origin !== undefined ||
    request.headers['sec-fetch-site'] !== undefined ||
    Object.values(cookies).some((value) => value !== null)
  if (browser) throw new AuthError('forbidden')
  return 'token'
}

/** By its content type alone, so that a form refused before its body was read still gets a form's response. */
export function isForm({ method, headers }: HttpRequest): boolean {
  return method === 'POST' && /^application\/x-www-form-urlencoded\b/i.test(String(headers['content-type'] ?? ''))
}
