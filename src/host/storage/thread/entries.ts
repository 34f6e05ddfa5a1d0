import type { IndexProgress } from '../../ports.js'
import {
  additionsOf,
  type BuiltRow,
  buildBounds,
  clashesIn,
  notUnique,
  progressOf,
  takeRows,
} from '../indexing/building.js'
import { changesIn, type DocumentChange, type Entry, freeKeys, type IndexChange } from '../indexing/entry-changes.js'
import type { IndexKeys } from '../indexing/index-row.js'
import { type IndexRow, tablesOf } from '../indexing/index-row.js'
import type { SpaceFile } from './space-file.js'
import { nullableTextAt, numberAt, textAt } from './space-file.js'

/** Headers of an entry, and what is free in its page. */
const entryOverhead = 16

/** What a document's entries take on the disk, about. */
export function bytesOf(id: string, keys: readonly IndexKeys[]): number {
  const idBytes = Buffer.byteLength(id)
  const sizes = keys.flatMap(({ entries, unique }) => [...entries, ...(Buffer.isBuffer(unique) ? [unique] : [])])
  return sizes.reduce((sum, { length }) => sum + length + idBytes + entryOverhead, 0)
}

/**
 * Brings the entries of each index up to date. Call it in the transaction that writes the documents.
 *
 * @throws {StoreError} `already_exists`, `query_invalid` for what a unique index does not take, `quota_exceeded`
 */
export function changeEntries(file: SpaceFile, indexes: readonly IndexRow[], changes: readonly DocumentChange[]): void {
  for (const change of changesIn(indexes, changes)) changeIndex(file, change)
}

function changeIndex(file: SpaceFile, { index, multikey, unordered, ...change }: IndexChange): void {
  removeEntries(file, index.entries, change.removed)
  removeEntries(file, index.uniqueKeys, change.removedUnique)
  const free = freeKeys(index, change.addedUnique, (key) => holderOf(file, index, key))
  addEntries(file, index.uniqueKeys, free)
  addEntries(file, index.entries, change.added)
  if (multikey === 0 && unordered === 0) return
  const sql = 'update indexes set multikey = multikey + ?, unordered = unordered + ? where i = ?'
  file.run(sql, multikey, unordered, index.i)
}

function removeEntries(file: SpaceFile, table: string, entries: readonly Entry[]): void {
  for (const { key, id } of entries) file.run(`delete from ${table} where k = ? and id = ?`, key, id)
}

/** The builder of an index may have been there before. */
function addEntries(file: SpaceFile, table: string, entries: readonly Entry[]): void {
  for (const { key, id } of entries) file.run(`insert or ignore into ${table} (k, id) values (?, ?)`, key, id)
}

/** The `_id` of the document that has a unique key. */
function holderOf(file: SpaceFile, { uniqueKeys }: IndexRow, key: Buffer): string | null {
  const row = file.row(`select id from ${uniqueKeys} where k = ?`, key)
  return row ? textAt(row, 'id') : null
}

const columns = 'i, n, field, is_unique, built_to, processed, multikey, unordered'

/** The indexes of a collection, in order of their fields. */
export function indexesOf(file: SpaceFile, n: number | null): IndexRow[] {
  if (n === null) return []
  return file.rows(`select ${columns} from indexes where n = ? order by field`, n).map(readIndex)
}

export function findIndex(file: SpaceFile, n: number | null, field: string): IndexRow | null {
  const row = n === null ? null : file.row(`select ${columns} from indexes where n = ? and field = ?`, n, field)
  return row ? readIndex(row) : null
}

/** Its entries go later, page by page: `tidy.ts`. Call it in a transaction. */
export function dropIndex(file: SpaceFile, { i, isUnique, entries, uniqueKeys }: IndexRow): void {
  file.run('insert into dropped_entries (name) values (?)', entries)
  if (isUnique) file.run('insert into dropped_entries (name) values (?)', uniqueKeys)
  file.run('delete from indexes where i = ?', i)
}

function readIndex(row: unknown): IndexRow {
  const [n, i] = [numberAt(row, 'n'), numberAt(row, 'i')]
  return {
    i,
    field: textAt(row, 'field'),
    isUnique: numberAt(row, 'is_unique') === 1,
    builtTo: nullableTextAt(row, 'built_to'),
    processed: numberAt(row, 'processed'),
    multikey: numberAt(row, 'multikey'),
    unordered: numberAt(row, 'unordered'),
    ...tablesOf(n, i),
  }
}

/** How many rows `analyze` reads of an index. */
const analysisRows = 400

/**
 * Adds the entries of the next documents.
 *
 * @throws {StoreError} `query_invalid` when the values are not unique, after the index was removed; `quota_exceeded`
 */
export function buildPage(file: SpaceFile, n: number, index: IndexRow): IndexProgress {
  const of = numberAt(file.row('select count from collections where n = ?', n), 'count')
  if (index.builtTo === null) return progressOf(index, 0, of, true)
  const { rows, isLast } = takeRows(index, documentsFrom(file, n, index.builtTo))
  file.requireRoom(rows.reduce((sum, { id, keys }) => sum + bytesOf(id, [keys]), 0))
  const clashing = index.isUnique ? clashesIn(rows, (key) => holderOf(file, index, key)) : []
  if (clashing.length > 0) {
    file.transaction(() => dropIndex(file, index))
    throw notUnique(index.field, clashing)
  }
  file.transaction(() => addPage(file, index, rows, isLast))
  if (isLast) analyze(file, index)
  return progressOf(index, rows.length, of, isLast)
}

function* documentsFrom(file: SpaceFile, n: number, after: string) {
  const sql = `select id, body from c${n} where id > ? order by id limit ?`
  for (const row of file.iterate(sql, after, buildBounds.rows + 1)) {
    yield { id: textAt(row, 'id'), body: textAt(row, 'body') }
  }
}

function addPage(file: SpaceFile, index: IndexRow, rows: readonly BuiltRow[], isLast: boolean): void {
  const { entries, uniqueKeys, multikey, unordered } = additionsOf(rows)
  addEntries(file, index.entries, entries)
  addEntries(file, index.uniqueKeys, uniqueKeys)
  file.run(
    `update indexes set built_to = ?, processed = processed + ?, multikey = multikey + ?, unordered = unordered + ?
     where i = ?`,
    isLast ? null : (rows.at(-1)?.id ?? index.builtTo),
    rows.length,
    multikey,
    unordered,
    index.i,
  )
}

/** SQLite learns how the entries are spread. */
function analyze(file: SpaceFile, { entries }: IndexRow): void {
  file.rows(`pragma analysis_limit = ${analysisRows}`)
  file.run(`analyze ${entries}`)
}
