import { type HttpRequest, singleHeader } from '../http/message.js'
import { takeApiKey } from '../lib/api-key-query.js'
import type { Settings } from '../settings.js'

/** `undefined`: none was sent. `null`: one was sent, but in a form that does not count. */
export type Sent = string | null | undefined

/** The API token of a request that passed with it, which therefore contains it once. */
export function sentApiToken({ headers, query }: HttpRequest): string | null {
  const header = headers['x-apikey']
  return typeof header === 'string' ? header : (takeApiKey(query)?.values[0] ?? null)
}

/** From the header, or from the URL where the settings allow it. A token in both, or sent twice, does not count. */
export function readApiToken({ inUrl: mayBeInUrl }: Settings['apiTokens'], request: HttpRequest): Sent {
  const header = request.headers['x-apikey']
  const inHeader = header !== undefined
  const inUrl = mayBeInUrl ? takeApiKey(request.query) : null
  if (inUrl === null) return inHeader ? singleHeader(request, 'x-apikey', header) : undefined
  return inHeader || inUrl.values.length !== 1 ? null : (inUrl.values[0] ?? null)
}

/** With the blank behind it. */
export const scheme = 'Bearer '

/**
 * `Bearer ` and the token, with the scheme in this spelling. Ignores other schemes than Bearer, such as a proxy's Basic (RFC 6750 §2.1).
 */
export function readBearer(request: HttpRequest): Sent {
  const { authorization } = request.headers
  if (authorization === undefined) return undefined
  const header = singleHeader(request, 'authorization', authorization)
  if (header === null) return null
  // The common spelling, checked without a regular expression.
  const usual = header.slice(0, scheme.length) === scheme
  if (!usual && !/^bearer(?: |$)/i.test(header)) return undefined
  if (header.length <= scheme.length) return null
  return usual ? header : scheme + header.slice(scheme.length)
}

/** Whether a page in a browser caused the request. Node's own `fetch` sends `Sec-Fetch-Mode: cors` too. */
export function isFromBrowser({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  const mode = headers['sec-fetch-mode']
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return true
  return mode === 'navigate' || mode === 'no-cors'
}
