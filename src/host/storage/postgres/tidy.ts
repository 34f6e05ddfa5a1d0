import { clockMs, removePairs } from './key-values.js'
import { booleanAt, numberAt, textAt } from './rows.js'
import type { SpaceSchema } from './space-schema.js'

/**
 * Deletes a page of expired key-value pairs and the table of a dropped collection or index. Returns whether there is more. A crash
 * between two of them loses nothing: what is dropped stands in a table.
 */
export async function tidy(space: SpaceSchema): Promise<boolean> {
  const waiting = await space.read(async (run) => {
    const [row] = await run(
      `select exists (select 1 from ${space.schema}.kv where ends_at <= ${clockMs}) as expired,
        exists (select 1 from ${space.schema}.dropped) as dropped`,
    )
    return { expired: booleanAt(row, 'expired'), dropped: booleanAt(row, 'dropped') }
  })
  const expired = { where: `ends_at <= ${clockMs}`, order: 'ends_at', values: [] }
  const removed = waiting.expired
    ? (await space.write((unit) => removePairs(unit, `${space.schema}.kv`, expired))).removed
    : 0
  const isDropping = waiting.dropped && (await removeDropped(space))
  return removed > 0 || isDropping
}

/** Dropping a table takes the same time whatever it holds. A snapshot may still read it; then it stays until the next time. */
function removeDropped({ schema, write }: SpaceSchema): Promise<boolean> {
  return write(async ({ run, count }) => {
    const [lock] = await run('select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as free', schema)
    if (!booleanAt(lock, 'free')) return false
    const [dropped] = await run(
      `delete from ${schema}.dropped where name = (select min(name) from ${schema}.dropped) returning *`,
    )
    if (dropped === undefined) return false
    await run(`drop table ${schema}.${textAt(dropped, 'name')}`)
    count(-numberAt(dropped, 'bytes'))
    return true
  })
}
