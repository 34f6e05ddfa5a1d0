import { type Cidr, canonicalIp, parseCidr } from './ip-address.js'

/** An address as numbers, the most significant first: four of 8 bits, or eight of 16. */
type Parts = Uint16Array

/** From the first address of a network to its last. */
interface Range {
  first: Parts
  last: Parts
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
 * Builds the rule of an allow-list, which the guard and everything that foretells it follow: without entries, every address
 * may use the API. An unreadable entry matches no address but still counts as an entry.
 *
 * @param knowsClients false when a number of proxies is trusted: a client that connects directly can then forge its address,
 *   so a list allows no address
 */
export function createAllowRule(
  entries: readonly string[],
  { knowsClients }: { knowsClients: boolean },
): (ip: string | null) => boolean {
  if (entries.length === 0) return () => true
  return knowsClients ? createIpSet(entries) : () => false
}

/**
 * Builds the test whether a canonical address lies in one of these networks, by halving: some fourteen comparisons for
 * ten thousand networks, where `net.BlockList` asks one after the other (a millisecond for as many).
 */
export function createIpRanges(networks: readonly Cidr[]): (address: string) => boolean {
  const inIpv4 = createFamily(networks.filter(({ family }) => family === 'ipv4'))
  const inIpv6 = createFamily(networks.filter(({ family }) => family === 'ipv6'))
  return (address) => (address.includes(':') ? inIpv6(address) : inIpv4(address))
}

function createFamily(networks: readonly Cidr[]): (address: string) => boolean {
  const ranges = joined(networks.map(rangeOf))
  const [firstRange] = ranges
  if (firstRange === undefined) return () => false
  // Contiguous, so that no step of the search follows a pointer.
  const firsts = Uint16Array.from(ranges.flatMap(({ first }) => [...first]))
  const lasts = Uint16Array.from(ranges.flatMap(({ last }) => [...last]))
  const asked = new Uint16Array(firstRange.first.length)

  return (address) => {
    if (!readParts(address, asked)) return false
    let low = 0
    let high = ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareAt(firsts, middle, asked) <= 0) low = middle + 1
      else high = middle
    }
    return low > 0 && compareAt(lasts, low - 1, asked) >= 0
  }
}

/** Sorted, with overlapping ranges merged: then only the last range that begins before an address can contain it. */
function joined(ranges: readonly Range[]): Range[] {
  const sorted = ranges.toSorted((one, other) => compareAt(one.first, 0, other.first))
  const result: Range[] = []
  for (const range of sorted) {
    const previous = result.at(-1)
    if (previous === undefined || compareAt(range.first, 0, previous.last) > 0) result.push({ ...range })
    else if (compareAt(range.last, 0, previous.last) > 0) previous.last = range.last
  }
  return result
}

function rangeOf({ address, prefix, family }: Cidr): Range {
  const [count, bits] = family === 'ipv4' ? [4, 8] : [8, 16]
  const first = new Uint16Array(count)
  readParts(address, first)
  const last = first.map((part, index) => {
    const free = Math.min(bits, Math.max(0, (index + 1) * bits - prefix))
    return part + 2 ** free - 1
  })
  return { first, last }
}

/** Below 0, 0 or above 0, as the address at `index` comes before `other`, equals it, or comes after it. */
function compareAt(addresses: Parts, index: number, other: Parts): number {
  const from = index * other.length
  for (let part = 0; part < other.length; part += 1) {
    const difference = (addresses[from + part] ?? 0) - (other[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * Parses digit by digit, because this runs for each address that was not seen before. The input is lower case, as canonical
 * addresses are, in which `::` stands for two or more zero groups (RFC 5952 §4.2.2). An empty group reads as 0, and the missing
 * groups are inserted at the `::`.
 *
 * @returns false for another number of parts, so that it is no address of this family
 */
function readParts(address: string, parts: Parts): boolean {
  const [separator, base] = parts.length === 4 ? [46, 10] : [58, 16]
  let count = 0
  let gap = -1
  let value = 0
  let previousCode = 0
  for (let index = 0; index < address.length; index += 1) {
    const code = address.charCodeAt(index)
    if (code === separator) {
      if (previousCode === separator) gap = count
      parts[count] = value
      count += 1
      value = 0
    } else value = value * base + (code < 58 ? code - 48 : code - 87)
    previousCode = code
  }
  parts[count] = value
  count += 1
  const missing = parts.length - count
  if (gap === -1 || missing < 0) return missing === 0
  parts.copyWithin(gap + missing, gap, count)
  parts.fill(0, gap, gap + missing)
  return true
}
