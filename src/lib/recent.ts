/** A map that drops entries that were not used recently. */
export interface Recent<V, K = string> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  clear(): void
}

/**
 * Keeps up to `size` entries, among them at least half as many of the most recently used. It keeps two halves and drops the
 * older one as a whole, so an entry costs as much as in a `Map`, and nothing has to be sorted.
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
