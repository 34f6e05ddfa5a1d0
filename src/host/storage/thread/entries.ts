import type { IndexKeys } from '../indexing/document-keys.js'
import { changesIn, type DocumentChange, type Entry, freeKeys, type IndexChange } from '../indexing/entry-changes.js'
import type { IndexRow } from '../indexing/index-row.js'
import { textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

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
export function addEntries(file: SpaceFile, table: string, entries: readonly Entry[]): void {
  for (const { key, id } of entries) file.run(`insert or ignore into ${table} (k, id) values (?, ?)`, key, id)
}

/** The `_id` of the document that has a unique key. */
export function holderOf(file: SpaceFile, { uniqueKeys }: IndexRow, key: Buffer): string | null {
  const row = file.row(`select id from ${uniqueKeys} where k = ?`, key)
  return row ? textAt(row, 'id') : null
}
