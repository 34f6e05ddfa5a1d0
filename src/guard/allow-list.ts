import { parseCidr } from '../lib/ip-address.js'
import { createIpRanges } from '../lib/ip-ranges.js'
import { keepableAsItIs, remember } from '../lib/remember.js'

/** The IP allow-list of the API. */
export interface AllowList {
  /** Whether there is a list. Without one every address may use the API. */
  restricts(): boolean
  /** `ip` is canonical; null, an unknown address, is on no list. */
  allows(ip: string | null): boolean
  /** Replaces the entries beside the fixed ones. */
  use(added: readonly string[]): void
}

/**
 * @param fixed entries of the settings
 * @param knowsClients false when a number of proxies is trusted: a client that connects directly can then forge its address,
 *   so a list made at run time allows no address
 */
export function createAllowList(fixed: readonly string[], knowsClients: boolean): AllowList {
  let size = fixed.length
  let isIn = holding(fixed)
  return {
    // A method, not a getter, because every request calls it.
    restricts: () => size > 0,
    allows: (ip) => size === 0 || (knowsClients && ip !== null && isIn(ip)),
    use(added) {
      size = fixed.length + added.length
      isIn = holding([...fixed, ...added])
    },
  }
}

/** An unreadable entry matches no address but still counts as an entry, so the list restricts. */
function holding(entries: readonly string[]): (ip: string) => boolean {
  const ranges = createIpRanges(entries.map(parseCidr).filter((network) => network !== null))
  return remember(ranges, 1_000, keepableAsItIs)
}
