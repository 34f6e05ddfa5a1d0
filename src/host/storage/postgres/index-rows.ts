import { type IndexRow, tablesOf } from '../indexing/index-row.js'
import type { Target } from '../indexing/written-rows.js'
import type { Run } from './pool.js'
import { booleanAt, bytesTextAt, isNullAt, numberAt, textAt } from './rows.js'

const columns = 'i, field, is_unique, built_to, processed, multikey, unordered'

/** A collection with its indexes, in order of their fields. */
export async function targetOf(run: Run, schema: string, collection: string): Promise<Target> {
  const rows = await run(
    `select n, ${columns} from ${schema}.collections left join ${schema}.indexes using (n)
      where name = $1 order by field`,
    collection,
  )
  if (rows.length === 0) return { collection, n: null, indexes: [] }
  const n = numberAt(rows[0], 'n')
  return { collection, n, indexes: rows.filter((row) => !isNullAt(row, 'i')).map((row) => readIndex(n, row)) }
}

/** Its tables go later: `tidy.ts`. Call it in a transaction. */
export async function dropIndex(run: Run, schema: string, { i, isUnique, entries, uniqueKeys }: IndexRow) {
  await run(
    `with gone as (delete from ${schema}.indexes where i = $1 returning bytes)
      insert into ${schema}.dropped select $2, bytes from gone`,
    i,
    entries,
  )
  if (isUnique) await run(`insert into ${schema}.dropped values ($1, 0)`, uniqueKeys)
}

function readIndex(n: number, row: unknown): IndexRow {
  const i = numberAt(row, 'i')
  return {
    i,
    field: textAt(row, 'field'),
    isUnique: booleanAt(row, 'is_unique'),
    builtTo: isNullAt(row, 'built_to') ? null : bytesTextAt(row, 'built_to'),
    processed: numberAt(row, 'processed'),
    multikey: numberAt(row, 'multikey'),
    unordered: numberAt(row, 'unordered'),
    ...tablesOf(n, i),
  }
}
