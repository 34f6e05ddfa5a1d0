import type { ApiTokenAccess } from '../../contract/api-tokens.js'
import { AuthError, invalidField } from '../../errors.js'
import { parseDuration } from '../../lib/duration.js'
import { parseCidr } from '../../lib/ip-address.js'
import { requireName } from '../steps/require-account-fields.js'

/** The limit is low, because every request checks the list. */
const mostCidrs = 100
/** How long a former token may stay valid. */
const longestOverlapSeconds = 7 * 24 * 60 * 60

/** @throws {AuthError} `invalid_request` unless it is one line of 1 to 100 characters */
export function requireTokenName(name: unknown): string {
  const line = name === null ? null : requireName(name)
  if (line === null) throw invalidField('name', 'must tell which token it is')
  return line
}

/** @throws {AuthError} `invalid_request` */
export function requireAccess(access: unknown): ApiTokenAccess {
  if (access === 'READ' || access === 'READWRITE') return access
  throw invalidField('access', 'must be READ or READWRITE')
}

/** Unix seconds, or null for never. @throws {AuthError} `invalid_request` unless it is a future date or its ISO 8601 text */
export function requireEnd(date: unknown, now: number): number | null {
  if (date === null) return null
  const isDate = date instanceof Date || (typeof date === 'string' && /^\d{4}-\d\d-\d\d/.test(date))
  const seconds = isDate ? Math.floor(new Date(date).getTime() / 1000) : Number.NaN
  if (!(seconds > now)) throw invalidField('expiresAt', 'must be a date to come')
  return seconds
}

/**
 * The networks, canonical, each once. An empty list is refused, because the caller may have computed it and meant no network.
 *
 * @throws {AuthError} `invalid_request`
 */
export function requireCidrs(cidrs: unknown, knowsClients: boolean): readonly string[] {
  if (!Array.isArray(cidrs) || cidrs.length === 0 || cidrs.length > mostCidrs) {
    throw invalidField('cidrs', `must be a list of 1 to ${mostCidrs} IP addresses and CIDRs`)
  }
  const networks = cidrs.map((entry) => parseCidr(entry)?.text ?? null)
  const errors = networks.flatMap((network, index) =>
    network === null ? [{ path: `cidrs.${index}`, message: 'must be an IP address or a CIDR' }] : [],
  )
  if (errors.length > 0) throw new AuthError('invalid_request', { errors })
  if (!knowsClients) {
    throw invalidField('cidrs', 'needs trustedProxies to be CIDRs: a count cannot tell who sent the header')
  }
  return [...new Set(networks.filter((network) => network !== null))]
}

/** Seconds. @throws {AuthError} `invalid_request` unless it is a duration from 0 to 7 days */
export function requireOverlap(overlap: unknown): number {
  const seconds = overlap === '0s' ? 0 : parseDuration(overlap)
  if (seconds !== null && seconds <= longestOverlapSeconds) return seconds
  throw invalidField('overlap', "must be a duration from '0s' to '7d'")
}
