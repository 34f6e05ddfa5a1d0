import type { Query } from './engine/query.js'
import type { Table } from './engine/tables.js'
import type { View } from './engine/unit.js'

interface Created {
  id: string
  created_at: number
}

interface Cut<R> {
  limit: number
  /** What the Datastore filters by. */
  query?: Query
  /** What no query can express. */
  keep?: (row: R) => boolean
}

/**
 * A page of rows, newest first, of one second by id backwards; `after` is the last one of the page before. Rows of that
 * very second are asked for by themselves, as a query has no "or" that every adapter knows.
 */
export async function newestBefore<R extends Created>(
  view: View,
  table: Table<R>,
  after: { createdAt: number; id: string } | null,
  { limit, query = {}, keep = () => true }: Cut<R>,
): Promise<R[]> {
  const page: R[] = []
  for (let place = after; page.length < limit; ) {
    const rows = await readPart(view, table, place, { limit, query })
    page.push(...rows.filter(keep))
    const last = rows.at(-1)
    if (!last || rows.length < limit) break
    place = { createdAt: last.created_at, id: last.id }
  }
  return page.slice(0, limit)
}

async function readPart<R extends Created>(
  view: View,
  table: Table<R>,
  after: { createdAt: number; id: string } | null,
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
