import type { Condition, Page, Query } from '../../unit.js'

type Values = Readonly<Record<string, string | number | null | undefined>>

export function matches(row: Values, query: Query): boolean {
  return Object.entries(query).every(([column, condition]) => condition === undefined || holds(row[column], condition))
}

function holds(value: string | number | null | undefined, condition: Condition): boolean {
  if (typeof condition !== 'object') return value === condition
  if ('in' in condition) return typeof value === 'string' && condition.in.includes(value)
  if ('ne' in condition) return value !== condition.ne
  if (typeof value !== 'number') return false
  const { lt, lte, gt, gte } = condition
  if (lt !== undefined && !(value < lt)) return false
  if (lte !== undefined && !(value <= lte)) return false
  if (gt !== undefined && !(value > gt)) return false
  return gte === undefined || value >= gte
}

/** By our own order, whatever the platform made of it: text by code units, as ids and keys are compared everywhere. */
export function sortAndCut<Found extends { row: Values }>(found: readonly Found[], { sort, limit }: Page): Found[] {
  const columns = Object.entries(sort ?? {})
  const sorted = columns.length === 0 ? [...found] : found.toSorted((a, b) => compare(a.row, b.row, columns))
  return limit === undefined ? sorted : sorted.slice(0, limit)
}

function compare(a: Values, b: Values, columns: readonly [string, 1 | -1][]): number {
  for (const [column, direction] of columns) {
    const [left, right] = [a[column] ?? 0, b[column] ?? 0]
    if (left !== right) return left < right ? -direction : direction
  }
  return 0
}
