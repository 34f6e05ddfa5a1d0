import { trimBlanks } from '../lib/http-blanks.js'
import type { Settings } from '../settings.js'
import { type HttpRequest, type HttpResponse, singleHeader } from './message.js'
import { empty } from './problem.js'

type Request = Pick<HttpRequest, 'method' | 'headers' | 'rawHeaders'>
type Trust = Pick<Settings, 'trustedOrigins'>

/** A response depends on `Origin`, so a cache must not serve one origin the response of another. */
const vary = Object.freeze({ vary: 'Origin' })

const exposed = 'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After'

const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE'

const ownHeaders = ['content-type', 'authorization', 'x-auth-mode']

/** Browsers must not send API tokens, so preflights never allow these headers. */
const tokenHeaders = ['x-apikey', 'x-api-key', 'x-admintoken']

/** Limits on the headers that a page of a trusted origin may ask for beyond our own. */
const maxAskedHeaders = 32

/** How many seconds a browser may cache a preflight response. */
const preflightLifetime = 600

/**
 * CORS headers for a response, ours or the application's: a trusted origin is echoed exactly and may send credentials, any
 * other origin gets none (ASVS 5.0, 3.4.2). null: no origin is trusted, so responses do not depend on `Origin`.
 */
export function corsHeaders(request: Request, { trustedOrigins }: Trust): Readonly<Record<string, string>> | null {
  if (trustedOrigins.length === 0) return null
  const origin = trustedOrigin(request, trustedOrigins)
  if (origin === null) return vary
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
    ...vary,
  }
}

/**
 * The response to a CORS preflight, or null for any other request. An untrusted origin gets the same response without the
 * headers, which refuses it. The application never sees a preflight.
 *
 * A trusted page may send whatever headers it asks for (tracing, idempotency keys), but no API token.
 */
export function preflight(request: Request, { trustedOrigins }: Trust): HttpResponse | null {
  if (request.method !== 'OPTIONS') return null
  const { headers } = request
  if (headers.origin === undefined || headers['access-control-request-method'] === undefined) return null

  const origin = trustedOrigin(request, trustedOrigins)
  const varyAll = { vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers' }
  if (origin === null) return empty(204, varyAll)
  return empty(204, {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': methods,
    'access-control-allow-headers': [...ownHeaders, ...askedHeaders(request)].join(', '),
    'access-control-max-age': String(preflightLifetime),
    ...varyAll,
  })
}

function trustedOrigin(request: Request, trustedOrigins: readonly string[]): string | null {
  const origin = singleHeader(request, 'origin')
  return origin !== null && trustedOrigins.includes(origin) ? origin : null
}

function askedHeaders(request: Request): string[] {
  const asked = singleHeader(request, 'access-control-request-headers') ?? ''
  const names = asked
    .split(',', maxAskedHeaders)
    .map((name) => trimBlanks(name).toLowerCase())
    .filter((name) => /^[\w-]{1,64}$/.test(name))
  return [...new Set(names)].filter((name) => !ownHeaders.includes(name) && !tokenHeaders.includes(name))
}
