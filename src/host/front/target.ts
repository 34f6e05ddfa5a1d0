import { AuthError } from '../../errors.js'
import { isPlainPath, readingsOf } from '../../lib/normal-path.js'
import { sameOrigins } from '../../lib/url.js'

/** Where a request goes. Path and query are as sent. */
export interface Target {
  /** The first segment of the path; empty for `/`. */
  space: string
  path: string
  query: string
}

/** The values of `Host` that stand for `baseUrl`: its own, and in development those of the other loopback names. */
export function hostsOf(baseUrl: URL): ReadonlySet<string> {
  return new Set(sameOrigins(baseUrl.origin).map((origin) => new URL(origin).host))
}

/** @throws {AuthError} `wrong_host`: for another site, without a host, or with two */
export function requireHost(host: string | null, hosts: ReadonlySet<string>): void {
  if (host === null || !hosts.has(host.toLowerCase())) throw new AuthError('wrong_host')
}

/**
 * Reads a request target (RFC 9112 §3.2). The space must be the same in every reading that a proxy, a framework or `new URL`
 * could have of the path, so that no reader finds another space than the guard did.
 *
 * @throws {AuthError} `invalid_request`, or `wrong_host` for an absolute target of another site
 * @example readTarget('/dev/orders?limit=1', hosts) // { space: 'dev', path: '/dev/orders', query: 'limit=1' }
 */
export function readTarget(url: string, hosts: ReadonlySet<string>): Target {
  const target = originForm(url, hosts)
  if (target.includes('#')) throw unreadable()
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const space = firstSegment(path)
  if (!isPlainPath(path)) {
    const readings = readingsOf(path)
    if (readings === null || climbsOddly(path)) throw unreadable()
    if ([...readings, undecodedPath(path)].some((reading) => firstSegment(reading) !== space)) throw unreadable()
  }
  return { space: space ?? '', path, query: mark === -1 ? '' : target.slice(mark + 1) }
}

const absolute = /^https?:\/\/([^/\\?#@%]+)(\/.*)?$/i

function originForm(url: string, hosts: ReadonlySet<string>): string {
  if (url.startsWith('/')) return url
  const [, host, rest = '/'] = absolute.exec(url) ?? []
  if (host === undefined) throw unreadable()
  requireHost(host, hosts)
  return rest
}

/** null for a reading that does not begin with a slash. */
function firstSegment(path: string): string | null {
  if (!path.startsWith('/')) return null
  const end = path.indexOf('/', 1)
  return end === -1 ? path.slice(1) : path.slice(1, end)
}

const slash = String.raw`(?:[/\\]|%(?:25)*(?:2f|5c))`
const dotDot = new RegExp(String.raw`${slash}(?:\.|%(?:25)*2e){2}(?:${slash}|;|%(?:25)*3b|$)`, 'i')

/**
 * Whether the path has a `..` in any spelling among segments that are odd too. Readers remove odd segments in different orders,
 * so one of them may climb out of the space.
 */
function climbsOddly(path: string): boolean {
  const decoded = decodeURIComponent(path)
    .normalize('NFKC')
    .replaceAll(/[\p{C}\p{Z}]/gu, '')
  return dotDot.test(decoded) && !isPlainPath(path.replaceAll(/\/(?:\.|%2e){1,2}(?=\/|$)/gi, '/x'))
}

/** As `new URL` alone reads it: `/dev/../%64ev` is `/dev` only for readers that decode too. */
function undecodedPath(path: string): string {
  return new URL(`http://x${path}`).pathname
}

function unreadable(): AuthError {
  return new AuthError('invalid_request', { explain: 'target: readers could disagree on the space' })
}
