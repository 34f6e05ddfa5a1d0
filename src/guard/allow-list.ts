import { createIpSet } from '../lib/client-ip.js'

/** The addresses that alone may use the API, if there are any. */
export interface AllowList {
  /** Whether there is a list at all: without one everybody may. */
  readonly restricts: boolean
  /** An address that cannot be known is on no list. */
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
  let isIn = createIpSet(fixed)
  return {
    get restricts() {
      return size > 0
    },
    allows: (ip) => size === 0 || (knowsClients && isIn(ip)),
    use(added) {
      const entries = [...new Set([...fixed, ...added])]
      size = entries.length
      isIn = createIpSet(entries)
    },
  }
}
