export { keepable } from './remember.js'

/** A few texts asked for lately, and what was found for each. */
export interface Latest<E> {
  get(text: string): E | null
  set(entry: E): void
  clear(): void
}

const mostPlaces = 64

/**
 * One place for texts of a length, which some lengths share: to compare two texts takes a third of finding one in a map, where
 * its hash is not known yet. What is kept must not hold more than `keepable` made of the text.
 *
 * @param size places, at most 64
 * @example const latest = createLatest<{ text: string; value: number }>()
 */
export function createLatest<E extends { readonly text: string }>(size = mostPlaces): Latest<E> {
  const places = Math.min(mostPlaces, size)
  const entries: (E | null)[] = Array.from({ length: places }, () => null)
  return {
    get(text) {
      const entry = entries[text.length % places]
      return entry?.text === text ? entry : null
    },
    set(entry) {
      entries[entry.text.length % places] = entry
    },
    clear() {
      entries.fill(null)
    },
  }
}
