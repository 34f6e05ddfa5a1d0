import { queryInvalid, StoreError } from '../../documents/store-error.js'
import type { IfVersion, StoredDocument, VersionedChange } from '../../ports.js'
import { type DocumentChange, valueTaken } from './entry-changes.js'
import type { IndexRow } from './index-row.js'
import { type IndexKeys, keysIn, nameOf } from './index-row.js'

/** A collection that is written to. */
export interface Target {
  collection: string
  /** null when it is made with its first document. */
  n: number | null
  indexes: readonly IndexRow[]
}

/** A document that is there. */
export interface Found {
  version: number
  bytes: number
  keys: readonly IndexKeys[]
}

/** A document that is to be written, with its keys in each index of the collection. */
export interface Row extends Pick<StoredDocument, 'id' | 'body'> {
  keys: readonly IndexKeys[]
}

export interface FoundRow extends Row {
  found: Found | null
}

export interface RemovedRow {
  id: string
  found: Found
}

export interface WrittenRow extends FoundRow {
  version: number
}

export function rowOf({ indexes }: Pick<Target, 'indexes'>, { id, body }: Pick<StoredDocument, 'id' | 'body'>): Row {
  return { id, body, keys: keysIn(indexes, id, body) }
}

/** @throws {StoreError} `not_current` */
export function requireExpected(found: Found | null, ifVersion: IfVersion): void {
  if (ifVersion === 'any' || ifVersion === (found?.version ?? 'absent')) return
  throw new StoreError('not_current', 'The document has changed since it was read.')
}

/** Which rows of a call are written, with `any` the last of those with one `_id`, and which `_id`s exist already. */
export function chooseRows(
  rows: readonly Row[],
  ifVersion: 'absent' | 'any',
  foundOf: (id: string) => Found | null,
): { existing: string[]; chosen: FoundRow[] } {
  const existing: string[] = []
  const chosen = new Map<string, FoundRow>()
  for (const row of rows) {
    const found = foundOf(row.id)
    const exists = found !== null || chosen.has(row.id)
    if (exists) existing.push(row.id)
    if (!exists || ifVersion === 'any') chosen.set(row.id, { ...row, found })
  }
  return { existing, chosen: [...chosen.values()] }
}

/** A change with the keys of what is written; `row` null removes the document. */
export interface ChangeRow extends Pick<VersionedChange, 'id' | 'version'> {
  row: Row | null
}

export function changeRowsOf(target: Pick<Target, 'indexes'>, changes: readonly VersionedChange[]): ChangeRow[] {
  return changes.map(({ id, version, body }) => ({
    id,
    version,
    row: body === null ? null : rowOf(target, { id, body }),
  }))
}

/** Which changes are made, and the `_id`s of those whose document changed since it was read. */
export function chooseChanges(
  { indexes }: Pick<Target, 'indexes'>,
  changes: readonly ChangeRow[],
  foundOf: (change: ChangeRow) => Found | null,
): { overtaken: string[]; removed: RemovedRow[]; written: FoundRow[] } {
  const overtaken: string[] = []
  const removed: RemovedRow[] = []
  const written: FoundRow[] = []
  for (const change of changes) {
    const { id, version, row } = change
    const found = foundOf(change)
    if (found?.version !== version) overtaken.push(id)
    else if (row === null) removed.push({ id, found })
    else written.push({ ...row, found })
  }
  requireNoExchange(indexes, written)
  return { overtaken, removed, written }
}

/**
 * Refuses documents that pass on a unique value to each other. One after another they may fail, as in MongoDB, and that must not
 * depend on how many a call changes.
 */
function requireNoExchange(indexes: Target['indexes'], rows: readonly FoundRow[]): void {
  for (const [at, index] of indexes.entries()) {
    const holders = new Map<string, string>()
    for (const { id, found } of rows) {
      const key = found?.keys[at]?.unique
      if (Buffer.isBuffer(key)) holders.set(nameOf(key), id)
    }
    for (const { id, keys } of rows) {
      const key = keys[at]?.unique
      const holder = Buffer.isBuffer(key) ? holders.get(nameOf(key)) : undefined
      if (holder !== undefined && holder !== id) throw valueTaken(index)
    }
  }
}

/** What one call may find of the documents that it writes over: they are read for their keys, and freeing them takes time. */
const maxFoundBytes = 16 * 1024 * 1024

/** @throws {StoreError} `query_invalid` */
export function requireFewBytes(found: number): void {
  if (found <= maxFoundBytes) return
  throw queryInvalid('The documents that this call changes are too large together. Change fewer at once.')
}

/** @param last the last of as many versions as there are rows */
export function withVersions(rows: readonly FoundRow[], last: number): WrittenRow[] {
  return rows.map((row, at) => ({ ...row, version: last - rows.length + 1 + at }))
}

/** What the rows add to their collection. */
export function growthOf(rows: readonly WrittenRow[]): { count: number; bytes: number } {
  let [count, bytes] = [0, 0]
  for (const { body, found } of rows) {
    count += found === null ? 1 : 0
    bytes += Buffer.byteLength(body) - (found?.bytes ?? 0)
  }
  return { count, bytes }
}

/** What leaves their collection. */
export function lossOf(rows: readonly RemovedRow[]): { count: number; bytes: number } {
  return { count: -rows.length, bytes: -rows.reduce((sum, { found }) => sum + found.bytes, 0) }
}

export function changesOf(rows: readonly WrittenRow[]): DocumentChange[] {
  return rows.map(({ id, keys, found }) => ({ id, before: found?.keys ?? null, after: keys }))
}

export function removalsOf(rows: readonly RemovedRow[]): DocumentChange[] {
  return rows.map(({ id, found }) => ({ id, before: found.keys, after: null }))
}

/** How many tables there may be, those of dropped collections too. Opening the data reads the definition of each. */
const maxCollections = 1_000

/** @throws {StoreError} `quota_exceeded` */
export function requireFewCollections(tables: number): void {
  if (tables < maxCollections) return
  throw new StoreError('quota_exceeded', `A space holds at most ${maxCollections} collections.`)
}
