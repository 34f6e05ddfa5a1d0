import { isIP, isIPv4 } from 'node:net'
import { copiedText } from './copied-text.js'
import { createIpRanges } from './ip-ranges.js'
import { keepableAsItIs, remember } from './remember.js'

/** Whose word on the client's address counts. */
export type TrustedProxies =
  | { kind: 'none' }
  | { kind: 'hops'; count: number }
  /** IP addresses and CIDRs, or `unix` for a proxy that comes through a Unix socket. */
  | { kind: 'cidrs'; cidrs: readonly string[] }

/** Finds the client's address: canonical, or null when it cannot be known. */
export type ClientIp = (
  socketIp: string | null,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
) => string | null

export interface Cidr {
  /** Canonical: the network, and the prefix unless it is one address. */
  text: string
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

/** A chain of proxies is short; a longer one is somebody's game. */
const maxHops = 32

/**
 * The one spelling of an IP address: dotted decimal, or RFC 5952. An IPv4-mapped address is the IPv4 address, since
 * dual-stack sockets report IPv4 clients that way.
 *
 * Octal, hexadecimal, shortened and zoned forms are no addresses here (CVE-2021-28918): parsers disagree on them.
 *
 * @returns null when the text is no address
 * @example canonicalIp('::ffff:192.0.2.1') // '192.0.2.1'
 */
export function canonicalIp(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const family = isIP(text)
  if (family === 4) return text
  if (family === 0 || text.includes('%')) return null
  const mapped = text.startsWith('::ffff:') ? text.slice(7) : ''
  return isIPv4(mapped) ? mapped : canonicalIpv6(text)
}

/** RFC 5952, as the platform's URL parser writes it; an IPv4-mapped address (RFC 4291 §2.5.5.2) as IPv4. */
function canonicalIpv6(text: string): string {
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address) ?? []
  if (high === undefined || low === undefined) return address
  const bits = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}

/**
 * The same for the address of a socket's other end, where a link-local address carries the zone it was seen in
 * (RFC 4007 §11); the zone is ours, not the client's, and is left out.
 */
export function canonicalSocketIp(text: unknown): string | null {
  if (typeof text !== 'string') return null
  const [address, zone] = text.split('%', 2)
  if (zone === undefined) return canonicalIp(text)
  const linkLocal = /^[\w.-]+$/.test(zone) && !zone.startsWith('25') && /^fe[89ab][0-9a-f]:/i.test(text)
  return linkLocal ? canonicalIp(address) : null
}

/**
 * Reads an IP address or a CIDR; the bits behind the prefix are cleared.
 *
 * @returns null when it is neither
 * @example parseCidr('192.0.2.9/24') // text: '192.0.2.0/24'
 */
export function parseCidr(input: unknown): Cidr | null {
  if (typeof input !== 'string' || input.length > 64) return null
  const [, text, digits] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(input) ?? []
  const address = canonicalIp(text)
  if (text === undefined || address === null) return null

  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const size = family === 'ipv4' ? 32 : 128
  const given = digits === undefined ? null : Number(digits)
  const prefix = given === null ? size : family === 'ipv4' && isIP(text) === 6 ? given - 96 : given
  if (prefix < 0 || prefix > size || (given ?? 0) > 128) return null
  return cidr(address, prefix, family)
}

function cidr(address: string, prefix: number, family: 'ipv4' | 'ipv6'): Cidr {
  const network = family === 'ipv4' ? ipv4Network(address, prefix) : ipv6Network(address, prefix)
  const single = prefix === (family === 'ipv4' ? 32 : 128)
  return { text: single ? network : `${network}/${prefix}`, address: network, prefix, family }
}

function ipv4Network(address: string, prefix: number): string {
  return cleared(address.split('.').map(Number), 8, prefix).join('.')
}

function ipv6Network(address: string, prefix: number): string {
  const [head = '', tail = ''] = address.split('::')
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [groupsOf(head), groupsOf(tail)]
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => 0)
  const groups = cleared([...left, ...zeros, ...right], 16, prefix)
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1)
}

/** The parts of an address, most significant first, with every bit behind the prefix 0. */
function cleared(parts: readonly number[], bitsEach: number, prefix: number): number[] {
  return parts.map((part, index) => {
    const gone = Math.min(bitsEach, Math.max(0, (index + 1) * bitsEach - prefix))
    return Math.floor(part / 2 ** gone) * 2 ** gone
  })
}

/**
 * Builds the test whether an address is in one of these networks. An entry that is neither an address nor a CIDR
 * matches nothing, which refuses where the list allows. IPv4 addresses are in IPv4 networks alone: `::/0` holds none.
 */
export function createIpSet(entries: readonly string[]): (ip: string | null) => boolean {
  const inRanges = createIpRanges(entries.map(parseCidr).filter((network) => network !== null))
  return (ip) => {
    const address = canonicalIp(ip)
    return address !== null && inRanges(address)
  }
}

/**
 * Builds the function that finds a client's address: the socket's, or, as far as trusted proxies reach, what they wrote
 * into `X-Forwarded-For`, read from the right, because everything further left is the client's own text. No other
 * header is ever read (ASVS 5.0, 4.1.3). Where a trusted proxy left something that is no address, the client is unknown.
 */
export function createClientIp(proxies: TrustedProxies): ClientIp {
  if (proxies.kind === 'none') {
    const socketIpOf = remember(canonicalSocketIp, 1_000, keepableAsItIs)
    return (socketIp) => (socketIp === null ? null : socketIpOf(socketIp))
  }
  if (proxies.kind === 'hops') {
    return (socketIp, headers) => byHops(proxies.count, canonicalSocketIp(socketIp), forwardedFor(headers))
  }
  const inNetworks = createIpSet(proxies.cidrs)
  const unix = proxies.cidrs.includes('unix')
  return (socketIp, headers) => {
    const socket = canonicalSocketIp(socketIp)
    const trusted = socketIp === null ? unix : inNetworks(socket)
    return trusted ? byNetworks(inNetworks, socket, forwardedFor(headers)) : socket
  }
}

/** The entry that the outermost of `count` proxies wrote; of a shorter chain the first. */
function byHops(count: number, socket: string | null, entries: Iterable<string>): string | null {
  let hop = 0
  let client = socket
  for (const entry of entries) {
    if (hop === count) break
    client = forwardedIp(entry)
    hop += 1
  }
  return client
}

/** The first entry from the right that no trusted proxy has; when all are trusted, the first of the chain. */
function byNetworks(trusted: (ip: string) => boolean, socket: string | null, entries: Iterable<string>): string | null {
  let hop = 0
  let client = socket
  for (const entry of entries) {
    client = forwardedIp(entry)
    hop += 1
    if (client === null || !trusted(client)) return client
    if (hop === maxHops) return null
  }
  return client
}

/** The entries of `X-Forwarded-For` from the right, empty ones left out (RFC 9110 §5.6.1); several lines are one list. */
function* forwardedFor(headers: Parameters<ClientIp>[1]): Generator<string> {
  const value = headers['x-forwarded-for'] ?? ''
  const lines = typeof value === 'string' ? [value] : value
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index] ?? ''
    for (let end = line.length; end >= 0; ) {
      const comma = end === 0 ? -1 : line.lastIndexOf(',', end - 1)
      // Longer than any address with its spaces: not worth the trimming, and no address.
      const entry = end - comma > 256 ? '-' : line.slice(comma + 1, end).replace(/^[ \t]+|[ \t]+$/g, '')
      if (entry !== '') yield entry
      end = comma
    }
  }
}

/**
 * Some proxies append the port: `192.0.2.1:443`, `[2001:db8::1]:443`. A copy, since lists and limits keep addresses, and one
 * that was cut out of its header would keep that, too.
 */
function forwardedIp(entry: string): string | null {
  if (entry.length > 64) return null
  const text = copiedText(entry)
  const [, v6] = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text) ?? []
  if (v6 !== undefined) return isIP(v6) === 6 ? canonicalIp(v6) : null
  const [, v4] = /^([\d.]+):\d{1,5}$/.exec(text) ?? []
  return canonicalIp(v4 ?? text)
}

/**
 * What a limit per address counts by: the IPv4 address, or the /64 of an IPv6 address, since one customer has at least
 * that many (GHSA-p6v2-xcpg-h6xw).
 *
 * @example limitKey('2001:db8:1:1::9') // '2001:db8:1:1::/64'
 */
export function limitKey(ip: string): string {
  const address = canonicalIp(ip)
  if (address === null) return 'unknown'
  return isIPv4(address) ? address : cidr(address, 64, 'ipv6').text
}

/**
 * Roughly where an address is: its /24, or the /48 of an IPv6 address, which mostly is one site. Null where it cannot be
 * known.
 *
 * @example coarseNetwork('192.0.2.77') // '192.0.2.0/24'
 */
export function coarseNetwork(ip: string | null): string | null {
  const address = canonicalIp(ip)
  if (address === null) return null
  return isIPv4(address) ? cidr(address, 24, 'ipv4').text : cidr(address, 48, 'ipv6').text
}
