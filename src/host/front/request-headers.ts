import { listHeaders } from '../../adapters/node/headers.js'
import { AuthError } from '../../errors.js'
import type { Pass } from '../../http/verdict.js'
import { encodePrincipal, hopHeader, principalHeader } from '../runner/hop.js'
import { type CookieSpace, cookiesFor } from './cookies.js'
import { endsHere, namedByConnection } from './hop-by-hop.js'

export interface SentHeaders {
  /** Names and values alternating, as the client sent them. */
  raw: readonly string[]
  /** The value of `Connection`; undefined when absent. */
  connection: string | undefined
  /** The length that frames the body; undefined for a chunked body and for none. */
  contentLength: string | undefined
}

export interface HeaderRules {
  /** The host of `baseUrl`. */
  host: string
  cookies: CookieSpace
  hopKey: string
}

/**
 * The headers of a request for the child. Those of the client pass as sent, except headers of its connection, claims of an
 * identity or an address, and foreign cookies. The headers that only the front may set follow.
 *
 * @throws {AuthError} `internal_error` for a pass that leaves the claims of the client in place
 */
export function headersForChild(sent: SentHeaders, pass: Pass, { host, cookies, hopKey }: HeaderRules): string[] {
  const { forwarded, spoofedHeaders, principal } = pass
  if (forwarded === null) throw new AuthError('internal_error', { explain: 'guard: no forwarded headers' })
  const named = namedByConnection(sent.connection ?? '')
  const headers = ['host', host]
  for (let index = 0; index + 1 < sent.raw.length; index += 2) {
    const name = sent.raw[index] ?? ''
    const lower = name.toLowerCase()
    if (isOurs(lower) || endsHere(lower, named) || spoofedHeaders.includes(lower)) continue
    const value = sent.raw[index + 1] ?? ''
    const kept = lower === 'cookie' ? cookiesFor(cookies, value) : value
    if (kept !== null) headers.push(name, kept)
  }
  listHeaders(headers, forwarded)
  // The body keeps its framing, whatever `Connection` names.
  if (sent.contentLength !== undefined) headers.push('content-length', sent.contentLength)
  headers.push(hopHeader, hopKey)
  if (principal !== null) headers.push(principalHeader, encodePrincipal(principal))
  return headers
}

function isOurs(name: string): boolean {
  return name === 'host' || name === 'content-length' || name.startsWith('x-latchkey-')
}
