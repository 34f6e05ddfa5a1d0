import { type Keys, keysOf } from '../../documents/keys.js'
import { queryInvalid, StoreError } from '../../documents/store-error.js'
import { uniqueKeyOf } from '../../documents/unique-key.js'
import { type Document, decode } from '../../documents/values.js'
import type { IndexRow } from './index-rows.js'
import { textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

/** What a document has in one index. */
export interface IndexKeys extends Keys {
  unique: ReturnType<typeof uniqueKeyOf>
}

/** A document that is written. Both lists have an element for each index. */
export interface EntryChange {
  id: string
  /** null when the document is new. */
  before: readonly IndexKeys[] | null
  /** null when the document is removed. */
  after: readonly IndexKeys[] | null
}

/** Headers of an entry, and what is free in its page. */
const entryOverhead = 16

/** An entry takes about 5 µs to write. */
const maxEntries = 100_000

/** The keys of a document, one element an index. */
export function keysIn(indexes: readonly IndexRow[], id: string, body: string): IndexKeys[] {
  if (indexes.length === 0) return []
  const document = decodeAny(id, body)
  return indexes.map(({ field, isUnique }) => ({
    ...keysOf(document, field),
    unique: isUnique ? uniqueKeyOf(document, field) : 'none',
  }))
}

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
export function changeEntries(file: SpaceFile, indexes: readonly IndexRow[], changes: readonly EntryChange[]): void {
  const count = changes.reduce((sum, { before, after }) => sum + sizeOf(before) + sizeOf(after), 0)
  if (count > maxEntries) {
    throw new StoreError(
      'quota_exceeded',
      `One call may change ${maxEntries} entries of indexes. Write fewer documents.`,
    )
  }
  for (const [at, index] of indexes.entries()) {
    const own = changes.map(({ id, before, after }) => ({
      id,
      before: before?.[at] ?? null,
      after: after?.[at] ?? null,
    }))
    // All that go before all that come, so that documents of one call may exchange a unique value.
    for (const each of own) removeOld(file, index, each)
    for (const each of own) addNew(file, index, each)
    countKinds(file, index, own)
  }
}

interface OwnChange {
  id: string
  before: IndexKeys | null
  after: IndexKeys | null
}

function removeOld(file: SpaceFile, { entries, uniqueKeys }: IndexRow, { id, before, after }: OwnChange): void {
  for (const key of without(before, after)) file.run(`delete from ${entries} where k = ? and id = ?`, key, id)
  if (before && Buffer.isBuffer(before.unique) && !hasUnique(after, before.unique)) {
    file.run(`delete from ${uniqueKeys} where k = ? and id = ?`, before.unique, id)
  }
}

function addNew(file: SpaceFile, index: IndexRow, { id, before, after }: OwnChange): void {
  if (after === null) return
  if (after.unique === 'not_scalar') throw notScalar(index)
  if (Buffer.isBuffer(after.unique) && !hasUnique(before, after.unique)) addUnique(file, index, after.unique, id)
  addEntries(file, index, id, without(after, before))
}

/** The builder of an index may have been there before. */
export function addEntries(file: SpaceFile, { entries }: IndexRow, id: string, keys: readonly Buffer[]): void {
  for (const key of keys) file.run(`insert or ignore into ${entries} (k, id) values (?, ?)`, key, id)
}

function addUnique(file: SpaceFile, index: IndexRow, key: Buffer, id: string): void {
  const holder = holderOf(file, index, key)
  if (holder !== null && holder !== id) {
    throw new StoreError('already_exists', `Another document has this value in the unique field ${index.field}.`)
  }
  if (holder === null) file.run(`insert into ${index.uniqueKeys} (k, id) values (?, ?)`, key, id)
}

/** The `_id` of the document that has a unique key. */
export function holderOf(file: SpaceFile, { uniqueKeys }: IndexRow, key: Buffer): string | null {
  const row = file.row(`select id from ${uniqueKeys} where k = ?`, key)
  return row ? textAt(row, 'id') : null
}

function notScalar({ field }: IndexRow): StoreError {
  return queryInvalid(`The field ${field} has a unique index, so it takes no array and no object.`)
}

/** Documents that the builder has yet to read are counted by it. */
function countKinds(file: SpaceFile, { i, builtTo }: IndexRow, changes: readonly OwnChange[]): void {
  let [multikey, unordered] = [0, 0]
  for (const { id, before, after } of changes) {
    if (builtTo !== null && Buffer.compare(Buffer.from(id), Buffer.from(builtTo)) > 0) continue
    multikey += Number(after?.isMultikey ?? false) - Number(before?.isMultikey ?? false)
    unordered += Number(after?.isOrdered === false) - Number(before?.isOrdered === false)
  }
  if (multikey === 0 && unordered === 0) return
  file.run('update indexes set multikey = multikey + ?, unordered = unordered + ? where i = ?', multikey, unordered, i)
}

function without(keys: IndexKeys | null, others: IndexKeys | null): Buffer[] {
  const known = new Set(others?.entries.map(nameOf))
  return (keys?.entries ?? []).filter((key) => !known.has(nameOf(key)))
}

function nameOf(key: Buffer): string {
  return key.toString('latin1')
}

function hasUnique(keys: IndexKeys | null, key: Buffer): boolean {
  return keys !== null && Buffer.isBuffer(keys.unique) && keys.unique.equals(key)
}

function sizeOf(keys: readonly IndexKeys[] | null): number {
  return (keys ?? []).reduce((sum, { entries }) => sum + entries.length, 0)
}

/** SQLite judges whether a body is JSON. One that only SQLite takes for JSON has no fields. */
function decodeAny(id: string, body: string): Document {
  try {
    return decode(id, body)
  } catch {
    return { _id: id }
  }
}
