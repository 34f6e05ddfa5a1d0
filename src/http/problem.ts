import type { AuthError } from '../errors.js'
import type { Settings } from '../settings.js'
import type { HttpResponse } from './message.js'

/** Header names are lower-case, as everywhere in answers of ours. */
type Headers = HttpResponse['headers']

/** What every answer of ours has: nothing of it is stored on the way (ASVS 5.0, 14.3.2), nobody guesses its type. */
const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** RFC 6750 §3: a challenge has at least one parameter. */
const challenge = 'Bearer realm="latchkey"'

/** Where an error does not say how long to wait. */
const defaultRetrySeconds: Readonly<Record<number, number>> = { 429: 60, 503: 1 }

/** How many of these seconds a browser talks to us by https only: a year (ASVS 5.0, 3.4.1), for this host alone. */
const strictTransport = 'max-age=31536000'

/**
 * An error as an RFC 9457 problem. `code` is the contract; `type` is the same as a URN, `title` the same in words.
 *
 * @param headers what only the caller knows, such as `allow` for 405
 * @example problem(new AuthError('method_not_allowed'), requestId, { allow: 'GET, HEAD' })
 */
export function problem(error: AuthError, requestId: string, headers: Headers = {}): HttpResponse {
  const { code, status, message, details } = error
  const body = {
    type: `urn:latchkey:error:${code}`,
    title: `${code.slice(0, 1).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`,
    status,
    code,
    detail: message,
    requestId,
    errors: details.errors,
    reasons: details.reasons,
  }
  return answer(status, JSON.stringify(body), {
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    ...challengeOf(error),
    ...retryAfterOf(error),
    ...headers,
  })
}

export function json(status: number, body: unknown, headers: Headers = {}): HttpResponse {
  return answer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}

export function empty(status: 204, headers: Headers = {}): HttpResponse {
  return answer(status, null, headers)
}

/**
 * @throws {Error} when the target holds anything but printable ASCII, which no checked target does
 */
export function redirect(status: 302 | 303, location: string, headers: Headers = {}): HttpResponse {
  if (!/^[\x21-\x7e]+$/.test(location)) throw new Error('a redirect target must be printable ASCII')
  return answer(status, null, { location, ...headers })
}

/** What a browser lets no page of ours use, nor anything that got into one (ASVS 5.0, 3.4). */
const unusedFeatures = 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'

export interface PageOptions {
  /**
   * Other origins that a form of the page may end at: browsers hold the redirects after a form to `form-action` too, so
   * a `redirectSuccessUrl` of a trusted origin, or an OAuth provider, must be named.
   */
  formOrigins?: readonly string[]
  headers?: Headers
}

/** A page of ours: one script of ours, nothing inline, nothing from elsewhere but pictures, and in nobody's frame. */
export function html(status: number, text: string, { formOrigins = [], headers = {} }: PageOptions = {}): HttpResponse {
  return answer(status, text, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: https:",
      ["form-action 'self'", ...formOrigins].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // Tokens in the address leave with no link. Not `no-referrer`: forms would then say `Origin: null`, see origin.ts.
    'referrer-policy': 'strict-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': unusedFeatures,
    'x-frame-options': 'DENY',
    ...headers,
  })
}

/** A file whose name changes with its content, so whoever has it may keep it. */
export function asset(contentType: string, body: string | Uint8Array): HttpResponse {
  return answer(200, body, { 'content-type': contentType, 'cache-control': 'public, max-age=31536000, immutable' })
}

/** Adds headers; cookies and `vary` are lists that grow, everything else is replaced. */
export function withHeaders(response: HttpResponse, added: Headers): HttpResponse {
  const headers: Record<string, string | readonly string[]> = { ...response.headers, ...added }
  const cookies = [response.headers['set-cookie'] ?? [], added['set-cookie'] ?? []].flat()
  const vary = [response.headers.vary ?? [], added.vary ?? []].flat()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (vary.length > 0) headers.vary = [...new Set(vary)].join(', ')
  return { ...response, headers }
}

/** For every answer of ours: with https, Strict-Transport-Security. */
export function transportHeaders({ origin }: Pick<Settings, 'origin'>): Headers {
  return origin.startsWith('https:') ? { 'strict-transport-security': strictTransport } : {}
}

function answer(status: number, body: HttpResponse['body'], headers: Headers): HttpResponse {
  return { status, headers: { ...common, ...headers }, body }
}

/** RFC 6750 §3.1: no error where the request brought no credential; the same error for whatever is wrong with one. */
function challengeOf({ code, status }: AuthError): Headers {
  if (code === 'token_expired' || code === 'token_revoked') {
    return { 'www-authenticate': `${challenge}, error="invalid_token"` }
  }
  if (code === 'insufficient_access') return { 'www-authenticate': `${challenge}, error="insufficient_scope"` }
  return status === 401 ? { 'www-authenticate': challenge } : {}
}

function retryAfterOf({ status, details }: AuthError): Headers {
  const fallback = defaultRetrySeconds[status]
  if (fallback === undefined) return {}
  return { 'retry-after': String(Math.max(1, Math.ceil(details.retryAfterSeconds ?? fallback))) }
}

/** For whoever builds the application: which check refused and why, where nobody else can ask. */
export function explanation(
  { development }: Pick<Settings, 'development'>,
  { code, details }: AuthError,
): Readonly<Record<string, string>> {
  return development ? { 'x-latchkey-explain': details.explain ?? code } : {}
}
