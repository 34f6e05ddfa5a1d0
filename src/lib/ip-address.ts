import { isIP, isIPv4 } from 'node:net'

export interface Cidr {
  /** Canonical: the network, and the prefix unless it is one address. */
  text: string
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

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
 * Reads an IP address or a CIDR; the bits after the prefix are cleared.
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

/** The parts of an address, most significant first, with every bit after the prefix 0. */
function cleared(parts: readonly number[], bitsEach: number, prefix: number): number[] {
  return parts.map((part, index) => {
    const gone = Math.min(bitsEach, Math.max(0, (index + 1) * bitsEach - prefix))
    return Math.floor(part / 2 ** gone) * 2 ** gone
  })
}

/**
 * The key of a limit per address: the IPv4 address, or the /64 of an IPv6 address, because one customer has at least that many
 * addresses (GHSA-p6v2-xcpg-h6xw).
 *
 * @example limitKey('2001:db8:1:1::9') // '2001:db8:1:1::/64'
 */
export function limitKey(ip: string): string {
  const address = canonicalIp(ip)
  if (address === null) return 'unknown'
  return isIPv4(address) ? address : cidr(address, 64, 'ipv6').text
}

/** Whether the address is of this machine: 127.0.0.0/8 or ::1, also as an IPv4 address inside IPv6. */
export function isLoopbackIp(ip: string | null): boolean {
  const address = canonicalIp(ip)
  return address !== null && (address === '::1' || address.startsWith('127.'))
}

/**
 * The rough location of an address: its /24, or the /48 of an IPv6 address, which mostly is one site. Null for an unknown
 * address.
 *
 * @example coarseNetwork('192.0.2.77') // '192.0.2.0/24'
 */
export function coarseNetwork(ip: string | null): string | null {
  const address = canonicalIp(ip)
  if (address === null) return null
  return isIPv4(address) ? cidr(address, 24, 'ipv4').text : cidr(address, 48, 'ipv6').text
}
