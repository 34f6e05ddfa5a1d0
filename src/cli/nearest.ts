/**
 * The name that is spelt most like the typed one, if at most two letters differ and most of them agree.
 *
 * @example nearest('shwo', ['show', 'create']) // 'show'
 */
export function nearest(typed: string, names: readonly string[]): string | null {
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ name, distance }) => distance <= Math.min(2, Math.floor(name.length / 2)))
    .sort((a, b) => a.distance - b.distance)
  return best?.name ?? null
}

/** How many letters to insert, remove or replace (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [index, letter] of [...a].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...b].entries()) {
      const replaced = (row[at] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
