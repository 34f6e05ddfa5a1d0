import { copiedText } from './copied-text.js'

/** Longer texts are not cached, because the client that sends them would choose the cache's memory use. */
const longestText = 256

/**
 * Caches the answers of a pure function of short texts. When the cache is full it is emptied, so a flood of new texts makes
 * the function no slower than it is without a cache.
 *
 * @param size entries, 1,000 by default
 * @param keep returns the text to store, or null to store none; a copy by default
 * @example const scopeOf = remember(readScope)
 */
export function remember<T>(answer: (text: string) => T, size = 1_000, keep = keepable): (text: string) => T {
  const known = new Map<string, { value: T }>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before.value
    const kept = keep(text)
    if (kept === null) return answer(text)
    const value = answer(kept)
    if (known.size >= size) known.clear()
    known.set(kept, { value })
    return value
  }
}

/** A copy of the text, since a text cut out of a URL or a header keeps all of it alive. null: too long to store. */
export function keepable(text: string): string | null {
  return text.length > longestText ? null : copiedText(text)
}

/** The text itself, for texts that were not cut out of others, such as a socket's address. null: too long to store. */
export function keepableAsItIs(text: string): string | null {
  return text.length > longestText ? null : text
}
