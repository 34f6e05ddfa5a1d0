/**
 * The function with a bounded memory of what it has answered, for pure functions of short texts that a few requests in a
 * row ask again. When the memory is full it is emptied: whoever floods it makes us no slower than without it.
 *
 * @param size entries, 1,000 unless told
 * @example const scopeOf = remember(readScope)
 */
export function remember<T>(answer: (text: string) => T, size = 1_000): (text: string) => T {
  const known = new Map<string, { value: T }>()

  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found.value
    const value = answer(text)
    if (text.length > longestText) return value
    if (known.size >= size) known.clear()
    known.set(text, { value })
    return value
  }
}

/** What is longer is no use to remember, and would be memory for whoever sends it. */
const longestText = 256
