/** The rows to remove so that `keep` are left together with a new one. `others` are newest first, without the new one. */
export function surplus<Row>(others: readonly Row[], keep: number): Row[] {
  return others.slice(Math.max(keep - 1, 0))
}

/** How many tokens of a purpose are kept. */
export interface Places {
  keep: number
  /**
   * Which tokens share them. `subject` (the default): those of one subject; the oldest goes. `email`: those of all subjects
   * for one address; the subject with the most goes back by its oldest, so that one subject cannot push out the others.
   */
  sharedBy?: 'subject' | 'email'
}

/**
 * The tokens to remove so that `keep` are left together with a new one. `others` are newest first, without the new one, and
 * share its places.
 */
export function surplusTokens<Row extends { subject: string }>(
  others: readonly Row[],
  subject: string,
  { keep, sharedBy = 'subject' }: Places,
): Row[] {
  if (sharedBy === 'subject') return surplus(others, keep)
  const left = [...others]
  const removed: Row[] = []
  while (left.length > 0 && left.length + 1 > keep) {
    const countOf = (of: string) => left.filter((row) => row.subject === of).length + (of === subject ? 1 : 0)
    const most = Math.max(...left.map((row) => countOf(row.subject)))
    removed.push(
      ...left.splice(
        left.findLastIndex((row) => countOf(row.subject) === most),
        1,
      ),
    )
  }
  return removed
}
