import { parseCidr } from '../lib/ip-address.js'
import { createIpRanges } from '../lib/ip-ranges.js'
import { keepableAsItIs, remember } from '../lib/remember.js'

/** The addresses that alone may use the API, if there are any. */
export interface AllowList {
  /** Whether there is a list at all: without one everybody may. */
  restricts(): boolean
  /** `ip` is canonical; an address that cannot be known is on no list. */
  allows(ip: string | null): boolean
  /** From now on these besides the fixed ones. */
  use(added: readonly string[]): void
}

/**
 * @param fixed entries of the settings
 * @param knowsClients false where a count of proxies is trusted: then anybody who reaches us directly writes the address
 *   that we read, so a list that was made at run time lets nobody in
 */
export function createAllowList(fixed: readonly string[], knowsClients: boolean): AllowList {
  let size = fixed.length
  let isIn = holding(fixed)
  return {
    // No getter: V8 would look it up in a table for each request.
    restricts: () => size > 0,
    allows: (ip) => size === 0 || (knowsClients && ip !== null && isIn(ip)),
    use(added) {
      size = fixed.length + added.length
      isIn = holding([...fixed, ...added])
    },
  }
}

/** An entry that cannot be read lets nobody in, and is one nevertheless. */
function holding(entries: readonly string[]): (ip: string) => boolean {
  const ranges = createIpRanges(entries.map(parseCidr).filter((network) => network !== null))
  return remember(ranges, 1_000, keepableAsItIs)
}
