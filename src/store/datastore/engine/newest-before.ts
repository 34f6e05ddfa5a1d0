import type { Table } from '../../tables.js'
import type { Created, PagePlace, Query, View } from '../../unit.js'
import { matches } from './query.js'

interface Cut<R> {
  limit: number
  query: Query
  /** What no query can express. */
  keep?: (row: R) => boolean
}

/**
 * A page of rows, newest first, of one second by id backwards; `after` is the last one of the page before. Rows of that
 * very second are asked for by themselves, as a query has no "or" that every adapter knows.
 */
export async function newestBefore<R extends Created, K extends keyof R>(
  view: Pick<View, 'find'>,
  table: Table<R, K>,
  after: PagePlace | null,
  { limit, query: asked, keep = () => true }: Cut<R>,
): Promise<R[]> {
  // Columns that documents of earlier releases lack are judged here, so that each query can be cut to a page.
  const late = Object.keys(table.defaults ?? {})
  const query = Object.fromEntries(Object.entries(asked).filter(([column]) => !late.includes(column)))
  const judged = Object.fromEntries(late.map((column) => [column, asked[column]]))
  const isKept = (row: R) => matches(Object.fromEntries(Object.entries(row)), judged) && keep(row)
  const page: R[] = []
  for (let place = after; page.length < limit; ) {
    const rows = await readPart(view, table, place, { limit, query })
    page.push(...rows.filter(isKept))
    const last = rows.at(-1)
    if (!last || rows.length < limit) break
    place = { createdAt: last.created_at, id: last.id }
  }
  return page.slice(0, limit)
}

async function readPart<R extends Created, K extends keyof R>(
  view: Pick<View, 'find'>,
  table: Table<R, K>,
  after: PagePlace | null,
  { limit, query }: { limit: number; query: Query },
): Promise<R[]> {
  const newestFirst = { created_at: -1, id: -1 } as const
  if (after === null) return view.find(table, query, { sort: newestFirst, limit })
  const ofThatSecond = await view.find(table, { ...query, created_at: after.createdAt }, { sort: newestFirst })
  const rest = ofThatSecond.filter(({ id }) => id < after.id)
  const missing = limit - rest.length
  if (missing <= 0) return rest.slice(0, limit)
  const before = { ...query, created_at: { lt: after.createdAt } }
  const older = await view.find(table, before, { sort: newestFirst, limit: missing })
  return [...rest, ...older]
}
