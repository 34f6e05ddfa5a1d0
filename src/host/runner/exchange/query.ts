/** A value for each name, and a list where a name comes more than once. */
export function readPairs(text: string): Record<string, string | string[]> {
  const pairs = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = pairs.get(name)
    if (earlier === undefined) pairs.set(name, value)
    else if (typeof earlier === 'string') pairs.set(name, [earlier, value])
    else earlier.push(value)
  }
  // `__proto__` becomes an own property here, never the prototype.
  return Object.fromEntries(pairs)
}
