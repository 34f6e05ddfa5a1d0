import type { AuthError } from '../errors.js'
import type { Settings } from '../settings.js'
import type { HttpResponse } from './message.js'

/** Header names are lower case, as in all our responses. */
type Headers = HttpResponse['headers']

/** Headers of all our responses: no caching (ASVS 5.0, 14.3.2) and no guessing of content types. */
const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** RFC 6750 §3: a challenge has at least one parameter. */
const challenge = 'Bearer realm="latchkey"'

/** The default when an error names no waiting time. */
const defaultRetrySeconds: Readonly<Record<number, number>> = { 429: 60, 503: 1 }

/** Strict-Transport-Security for a year, for this host alone (ASVS 5.0, 3.4.1). */
const strictTransport = 'max-age=31536000'

/**
 * An error as an RFC 9457 problem. `code` is the contract. `type` is the code as a URN, which names the code's heading in
 * docs/operate/troubleshooting.md or its page of the space host (a test holds them together); `title` is the code in words.
 *
 * @param headers further headers, such as `allow` for 405
 * @example problem(new AuthError('method_not_allowed'), requestId, { allow: 'GET, HEAD' })
 */
export function problem(error: AuthError, requestId: string, headers: Headers = {}): HttpResponse {
  return answer(error.status, JSON.stringify(problemBody(error, requestId)), {
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    ...challengeOf(error),
    ...retryAfterOf(error),
    ...headers,
  })
}

/** What `problem` answers, before it is JSON. */
export function problemBody({ code, status, message, details }: AuthError, requestId: string): object {
  return {
    type: `urn:latchkey:error:${code}`,
    title: `${code.slice(0, 1).toUpperCase()}${code.slice(1).replaceAll('_', ' ')}`,
    status,
    code,
    detail: message,
    requestId,
    errors: details.errors,
    reasons: details.reasons,
    unknown: details.unknown,
    reauthenticate: details.reauthenticate,
    ...details.mail,
  }
}

export function json(status: number, body: unknown, headers: Headers = {}): HttpResponse {
  return answer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers })
}

/** JSON that was written before, perhaps compressed. */
export function jsonBytes(status: number, body: Uint8Array): HttpResponse {
  return answer(status, body, { 'content-type': 'application/json' })
}

/** 304 with the headers that the answer would have, but for those of its body (RFC 9110 §15.4.5). */
export function notModified({ headers }: HttpResponse): HttpResponse {
  const { 'content-type': _type, 'content-encoding': _coding, ...rest } = headers
  return { status: 304, headers: rest, body: null }
}

/** One JSON object a line (https://jsonlines.org). */
export function jsonLines(items: readonly unknown[], headers: Headers = {}): HttpResponse {
  const text = items.map((item) => `${JSON.stringify(item)}\n`).join('')
  return answer(200, text, { 'content-type': 'application/jsonl', ...headers })
}

export function empty(status: 204, headers: Headers = {}): HttpResponse {
  return answer(status, null, headers)
}

/**
 * @throws {Error} when the target contains anything but printable ASCII, which checked targets never do
 */
export function redirect(status: 302 | 303, location: string, headers: Headers = {}): HttpResponse {
  if (!/^[\x21-\x7e]+$/.test(location)) throw new Error('a redirect target must be printable ASCII')
  return answer(status, null, { location, ...headers })
}

/** Browser features that our pages, and any script injected into them, must not use (ASVS 5.0, 3.4). */
const unusedFeatures = 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()'

export interface PageOptions {
  /**
   * Other origins that forms of the page may redirect to. Browsers apply `form-action` to redirects after a form too, so a
   * `redirectSuccessUrl` of a trusted origin, or an OAuth provider, must be listed.
   */
  formOrigins?: readonly string[]
  /** Allows inline styles, for a mail in a sandboxed frame: its document inherits the policy of the page. */
  inlineStyles?: boolean
  /** Allows our script to send requests to this origin. */
  ownRequests?: boolean
  headers?: Headers
}

/** A page of ours: our own script only, nothing inline, only images from other origins, and never in a frame. */
export function html(status: number, text: string, options: PageOptions = {}): HttpResponse {
  const { formOrigins = [], inlineStyles = false, ownRequests = false, headers = {} } = options
  return answer(status, text, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      ...(ownRequests ? ["connect-src 'self'"] : []),
      inlineStyles ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'",
      "img-src 'self' data: https:",
      ["form-action 'self'", ...formOrigins].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // Links send no tokens of the URL along. Not `no-referrer`: forms would send `Origin: null`, see origin.ts.
    'referrer-policy': 'strict-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': unusedFeatures,
    'x-frame-options': 'DENY',
    ...headers,
  })
}

/** A file whose name changes with its content, so caches may keep it forever. */
export function asset(contentType: string, body: string | Uint8Array): HttpResponse {
  return answer(200, body, { 'content-type': contentType, 'cache-control': 'public, max-age=31536000, immutable' })
}

/** Adds headers. `set-cookie` and `vary` are appended to; every other header is replaced. */
export function withHeaders(response: HttpResponse, added: Headers): HttpResponse {
  const headers: Record<string, string | readonly string[]> = { ...response.headers, ...added }
  const cookies = [response.headers['set-cookie'] ?? [], added['set-cookie'] ?? []].flat()
  const vary = [response.headers.vary ?? [], added.vary ?? []].flat()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (vary.length > 0) headers.vary = [...new Set(vary)].join(', ')
  return { ...response, headers }
}

/** Strict-Transport-Security for all our responses, when baseUrl has https. */
export function transportHeaders({ origin }: Pick<Settings, 'origin'>): Headers {
  return origin.startsWith('https:') ? { 'strict-transport-security': strictTransport } : {}
}

function answer(status: number, body: HttpResponse['body'], headers: Headers): HttpResponse {
  return { status, headers: { ...common, ...headers }, body }
}

/** RFC 6750 §3.1: no error code when the request has no credential, and one code for every invalid credential. */
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

/** In development only: the check that refused, and why. */
export function explanation(
  { development }: Pick<Settings, 'development'>,
  { code, details }: AuthError,
): Readonly<Record<string, string>> {
  return development ? { 'x-latchkey-explain': details.explain ?? code } : {}
}
