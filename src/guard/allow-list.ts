import { createAllowRule } from '../lib/ip-ranges.js'
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
 * @param policy.knowsClients see `createAllowRule`
 */
export function createAllowList(fixed: readonly string[], policy: { knowsClients: boolean }): AllowList {
  let size = 0
  let rule = createAllowRule([], policy)
  let remembered: (ip: string) => boolean = rule
  function use(added: readonly string[]): void {
    const entries = [...fixed, ...added]
    size = entries.length
    rule = createAllowRule(entries, policy)
    remembered = remember<boolean>(rule, 1_000, keepableAsItIs)
  }
  use([])
  return {
    // A method, not a getter, because every request calls it.
    restricts: () => size > 0,
    allows: (ip) => size === 0 || (ip === null ? rule(null) : remembered(ip)),
    use,
  }
}
