/**
 * The name that was probably meant: the same letters in another case or with other punctuation, or at most two typing mistakes
 * (fewer in short names). Null if no name is near.
 */
export function nearest(name: string, known: readonly string[]): string | null {
  // Longer than any name of a setting, so no comparison is needed.
  if (name.length > 64) return null
  const bare = lettersOf(name)
  const distances = known.map((candidate) => ({ candidate, slips: distance(bare, lettersOf(candidate)) }))
  const [best] = distances.sort((left, right) => left.slips - right.slips)
  return best && best.slips <= Math.min(2, Math.floor(bare.length / 3)) ? best.candidate : null
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Levenshtein distance: letters to add, drop or replace. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1]
    for (const [column, other] of [...right].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
