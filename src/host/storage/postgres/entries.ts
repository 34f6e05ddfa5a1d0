import { changesIn, type DocumentChange, type Entry, freeKeys, type IndexChange } from '../indexing/entry-changes.js'
import { type IndexRow, nameOf, tablesOf } from '../indexing/index-row.js'
import type { Target } from '../indexing/written-rows.js'
import type { Run } from './pool.js'
import { booleanAt, bytesAt, bytesTextAt, isNullAt, numberAt, textAt } from './pool.js'

/** What an entry counts with, besides its key and `_id`: both stand in the table and again in its primary key. */
const entryBytes = 96

/** Of the rows that a statement has changed. */
const bytes = `count(*) * ${entryBytes} + coalesce(sum(octet_length(k) + octet_length(id)), 0)`

/**
 * Brings the entries of each index up to date, in the transaction that writes the documents. Returns the bytes that this adds.
 *
 * @throws {StoreError} `already_exists`, `query_invalid` for what a unique index does not take, `quota_exceeded`
 */
export async function changeEntries(
  run: Run,
  schema: string,
  { indexes, changes }: { indexes: readonly IndexRow[]; changes: readonly DocumentChange[] },
): Promise<number> {
  let added = 0
  for (const change of changesIn(indexes, changes)) added += await changeIndex(run, schema, change)
  return added
}

async function changeIndex(run: Run, schema: string, change: IndexChange): Promise<number> {
  const { index, removed, added, removedUnique, addedUnique, multikey, unordered } = change
  const [entries, uniqueKeys] = [`${schema}.${index.entries}`, `${schema}.${index.uniqueKeys}`]
  let sum = -(await removeEntries(run, entries, removed)) - (await removeEntries(run, uniqueKeys, removedUnique))
  const holderOf = await holdersIn(
    run,
    uniqueKeys,
    addedUnique.map(({ key }) => key),
  )
  sum += await addEntries(run, uniqueKeys, freeKeys(index, addedUnique, holderOf))
  sum += await addEntries(run, entries, added)
  if (multikey !== 0 || unordered !== 0 || sum !== 0) {
    const sql = `update ${schema}.indexes set multikey = multikey + $1, unordered = unordered + $2, bytes = bytes + $3
      where i = $4`
    await run(sql, multikey, unordered, sum, index.i)
  }
  return sum
}

/** The bytes that they have freed. */
async function removeEntries(run: Run, table: string, entries: readonly Entry[]): Promise<number> {
  if (entries.length === 0) return 0
  const [sums] = await run(
    `with changed as (
      delete from ${table} as x using unnest($1::bytea[], $2::bytea[]) as gone (k, id)
      where x.k = gone.k and x.id = gone.id returning x.k, x.id
    ) select ${bytes} as bytes from changed`,
    ...columnsOf(entries),
  )
  return numberAt(sums, 'bytes')
}

/** The bytes that they add. The builder of an index may have been there before. */
export async function addEntries(run: Run, table: string, entries: readonly Entry[]): Promise<number> {
  if (entries.length === 0) return 0
  const [sums] = await run(
    `with changed as (
      insert into ${table} (k, id) select * from unnest($1::bytea[], $2::bytea[]) on conflict do nothing returning k, id
    ) select ${bytes} as bytes from changed`,
    ...columnsOf(entries),
  )
  return numberAt(sums, 'bytes')
}

/** Which documents have unique keys, by `_id`. */
export async function holdersIn(
  run: Run,
  table: string,
  keys: readonly Buffer[],
): Promise<(key: Buffer) => string | null> {
  const rows = keys.length === 0 ? [] : await run(`select k, id from ${table} where k = any ($1::bytea[])`, keys)
  const holders = new Map(rows.map((row) => [nameOf(bytesAt(row, 'k')), bytesTextAt(row, 'id')]))
  return (key) => holders.get(nameOf(key)) ?? null
}

function columnsOf(entries: readonly Entry[]): [Buffer[], Buffer[]] {
  return [entries.map(({ key }) => key), entries.map(({ id }) => Buffer.from(id))]
}

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
