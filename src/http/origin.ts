import { AuthError, type ErrorCode, invalidField } from '../errors.js'
import type { Settings } from '../settings.js'
import type { CookieJar } from './cookies.js'
import { type HttpRequest, isSafeMethod, singleHeader } from './message.js'

export interface OriginFacts {
  /** The request has one of our cookies, and no other credential takes precedence. */
  cookieDecides: boolean
  /** The body is a form, which any web page can send. */
  form: boolean
  /** A WebSocket upgrade: a GET that is guarded like a write. */
  upgrade?: boolean
}

type Request = Pick<HttpRequest, 'method' | 'headers' | 'rawHeaders'>
type Origins = Pick<Settings, 'ownOrigins' | 'trustedOrigins'>

/**
 * The origin rule: whether another site may have made a user's browser send this request (ASVS 5.0, 3.5.1).
 *
 * - `Origin`, if present, is our own or trusted: for writes always, for reads where a cookie decides. `null` is neither.
 * - Without it, `Sec-Fetch-Site` of a write is `same-origin`, `none` or absent; absent too, there is no cookie of ours,
 *   since every browser that keeps cookies the way we set them sends one of the two.
 * - A form comes from our own pages and shows it: by `Origin`, or by `Sec-Fetch-Site: same-origin`.
 *
 * Browsers send `Origin: null` with a form of a page whose Referrer-Policy is `no-referrer` (Fetch, "append a request
 * `Origin` header"), so no page that posts to us can have that policy.
 *
 * @returns the code of the refusal, or null
 */
export function originFault(request: Request, origins: Origins, facts: OriginFacts): ErrorCode | null {
  const fine = request.headers.origin === undefined ? siteIsFine(request, facts) : originIsFine(request, origins, facts)
  if (!fine) return 'csrf_rejected'
  return facts.form && !isFromOurPages(request, origins) ? 'csrf_rejected' : null
}

function originIsFine(request: Request, { ownOrigins, trustedOrigins }: Origins, facts: OriginFacts): boolean {
  const origin = singleHeader(request, 'origin')
  if (origin !== null && (ownOrigins.includes(origin) || trustedOrigins.includes(origin))) return true
  return !isWrite(request, facts) && !facts.cookieDecides
}

function siteIsFine(request: Request, facts: OriginFacts): boolean {
  if (!isWrite(request, facts)) return true
  const site = request.headers['sec-fetch-site']
  if (site === undefined) return !facts.cookieDecides
  return site === 'same-origin' || site === 'none'
}

function isWrite(request: Request, facts: OriginFacts): boolean {
  return facts.upgrade === true || !isSafeMethod(request.method)
}

function isFromOurPages(request: Request, { ownOrigins }: Origins): boolean {
  if (request.headers.origin === undefined) return singleHeader(request, 'sec-fetch-site') === 'same-origin'
  const origin = singleHeader(request, 'origin')
  return origin !== null && ownOrigins.includes(origin)
}

/** Whether a page in a browser caused the request. Node's own `fetch` sends `Sec-Fetch-Mode: cors` too. */
export function isFromBrowser({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const mode = headers['sec-fetch-mode']
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return true
  return mode === 'navigate' || mode === 'no-cors'
}

/**
 * The text of the header `x-admintoken`; null without it. Admin tokens are for programs, and no second credential may stand
 * beside one.
 *
 * @throws {AuthError} `forbidden` from a page, `invalid_request` beside a session, `unauthenticated` for a repeated header
 */
export function sentAdminToken(
  request: Pick<HttpRequest, 'headers' | 'rawHeaders'>,
  { access, refresh }: Pick<CookieJar, 'access' | 'refresh'>,
): string | null {
  const { headers } = request
  if (headers['x-admintoken'] === undefined) return null
  if (isFromBrowser(request)) throw new AuthError('forbidden', { explain: 'admin token: sent by a page' })
  const hasBearer = [headers.authorization].flat().some((value) => /^bearer(?: |$)/i.test(value ?? ''))
  if (access !== null || refresh !== null || hasBearer) {
    const message = 'must not be sent together with a session'
    throw invalidField('x-admintoken', message)
  }
  const token = singleHeader(request, 'x-admintoken')
  if (token === null) throw new AuthError('unauthenticated', { explain: 'admin token: sent more than once' })
  return token
}
