import { isObject } from '../../lib/json-object.js'
import { memberOf } from '../../lib/members.js'
import type { ApiTokenPrincipal, JwtPrincipal } from '../../model/principal.js'

/** Where Latchkey's space host leaves the space on `globalThis`, and the principal on each request. */
const host = Symbol.for('latchkey.host')

/** The principal that the host's guard found; nothing elsewhere, and when the request has no API token or JWT of the space. */
export function foundByHost(req: object): { hostPrincipal?: ApiTokenPrincipal | JwtPrincipal } {
  const found = memberOf(req, host)
  return isPrincipal(found) ? { hostPrincipal: found } : {}
}

/** The name of the space that this process runs; null elsewhere. */
export function hostSpace(): string | null {
  const space = memberOf(memberOf(globalThis, host), 'space')
  return typeof space === 'string' ? space : null
}

/** The client's address, which the host writes over whatever the client sent; null elsewhere, where any client could claim one. */
export function addressByHost(headers: Readonly<Record<string, unknown>>): string | null {
  const address = headers['x-real-ip']
  return hostSpace() !== null && typeof address === 'string' ? address : null
}

function isPrincipal(value: unknown): value is ApiTokenPrincipal | JwtPrincipal {
  if (!isObject(value)) return false
  const { kind, tokenId, name, access, subject, issuer, claims } = value
  if (kind === 'jwt') return typeof subject === 'string' && typeof issuer === 'string' && isObject(claims)
  const isToken = kind === 'apiToken' && typeof tokenId === 'string' && typeof name === 'string'
  return isToken && (access === 'READ' || access === 'READWRITE')
}
