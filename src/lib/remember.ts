import { createLatest, keepable } from './latest.js'

/**
 * The function with a bounded memory of what it has answered, for pure functions of short texts that a few requests in a
 * row ask again. When the memory is full it is emptied: whoever floods it makes us no slower than without it.
 *
 * @param size entries, 1,000 unless told
 * @param keep what is kept of a text; a copy unless told
 * @example const scopeOf = remember(readScope)
 */
export function remember<T>(answer: (text: string) => T, size = 1_000, keep = keepable): (text: string) => T {
  const known = new Map<string, Known<T>>()
  const latest = createLatest<Known<T>>(size)

  function find(text: string): T {
    const before = known.get(text)
    if (before !== undefined) {
      latest.set(before)
      return before.value
    }
    const kept = keep(text)
    if (kept === null) return answer(text)
    const found = { text: kept, value: answer(kept) }
    if (known.size >= size) forget()
    known.set(kept, found)
    latest.set(found)
    return found.value
  }

  function forget(): void {
    known.clear()
    latest.clear()
  }

  return (text) => {
    const last = latest.get(text)
    return last === null ? find(text) : last.value
  }
}

interface Known<T> {
  text: string
  value: T
}
