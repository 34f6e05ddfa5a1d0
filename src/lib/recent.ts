/** A map that forgets what was neither set nor asked for lately. */
export interface Recent<V, K = string> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  clear(): void
}

/**
 * Remembers up to `size` entries, and of those set or asked for last at least half as many. It keeps two halves and lets the
 * older one go as a whole: an entry costs what it costs in a `Map`, and nothing has to be put in order.
 *
 * @example const seen = createRecent<number>(10_000)
 */
export function createRecent<V, K = string>(size: number): Recent<V, K> {
  const half = Math.max(1, Math.floor(size / 2))
  let young = new Map<K, V>()
  let old = new Map<K, V>()

  function set(key: K, value: V): void {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
