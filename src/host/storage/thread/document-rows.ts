import { keysIn } from '../indexing/document-keys.js'
import {
  changesOf,
  type Found,
  growthOf,
  lossOf,
  type RemovedRow,
  type Row,
  removalsOf,
  requireFewBytes,
  type Target,
  type WrittenRow,
} from '../indexing/written-rows.js'
import { createCollection, numberOf } from './collection-tables.js'
import { bytesOf, changeEntries } from './entries.js'
import { indexesOf } from './index-rows.js'
import { numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

export function targetOf(file: SpaceFile, collection: string): Target {
  const n = numberOf(file, collection)
  return { collection, n, indexes: indexesOf(file, n) }
}

/** The bytes that writing the rows adds, about. */
export function roomFor(rows: readonly Row[]): number {
  return rows.reduce((sum, { id, body, keys }) => sum + Buffer.byteLength(body) + bytesOf(id, keys), 0)
}

/** @param wanted finds it in this version only */
export function findRow(file: SpaceFile, { n, indexes }: Target, id: string, wanted?: number): Found | null {
  if (n === null) return null
  const columns = indexes.length === 0 ? `'' as body` : 'body'
  const versions = wanted === undefined ? '' : 'and ver = ?'
  const row = file.row(
    `select ver, octet_length(body) as bytes, ${columns} from c${n} where id = ? ${versions}`,
    ...(wanted === undefined ? [id] : [id, wanted]),
  )
  if (!row) return null
  return {
    version: numberAt(row, 'ver'),
    bytes: numberAt(row, 'bytes'),
    keys: keysIn(indexes, id, textAt(row, 'body')),
  }
}

/**
 * Finds documents for one call, as `findRow` does.
 *
 * @throws {StoreError} `query_invalid` when they are too large together
 */
export function boundedFinder(file: SpaceFile, target: Target): (id: string, version?: number) => Found | null {
  let bytes = 0
  return (id, version) => {
    const found = findRow(file, target, id, version)
    bytes += found?.bytes ?? 0
    requireFewBytes(bytes)
    return found
  }
}

/** The last of as many versions as asked for. */
export function takeVersions(file: SpaceFile, count: number): number {
  return numberAt(file.row('update space set version = version + ? returning version', count), 'version')
}

/** The last version, from now on `above` at least. */
export function raiseVersions(file: SpaceFile, above: number): number {
  return numberAt(file.row('update space set version = max(version, ?) returning version', above), 'version')
}

/**
 * Writes documents and their entries. Call it in a transaction.
 *
 * @throws {StoreError} `already_exists`, `query_invalid`, `quota_exceeded`
 */
export function writeRows(file: SpaceFile, { collection, n, indexes }: Target, rows: readonly WrittenRow[]): void {
  const sql = `insert into c${n ?? createCollection(file, collection)} (id, ver, body) values (?, ?, ?)
    on conflict (id) do update set ver = excluded.ver, body = excluded.body`
  for (const { id, body, version } of rows) file.run(sql, id, version, body)
  changeEntries(file, indexes, changesOf(rows))
  resize(file, collection, growthOf(rows))
}

/** Call it in a transaction. */
export function removeRows(file: SpaceFile, { collection, n, indexes }: Target, rows: readonly RemovedRow[]): void {
  for (const { id } of rows) file.run(`delete from c${n} where id = ?`, id)
  changeEntries(file, indexes, removalsOf(rows))
  resize(file, collection, lossOf(rows))
}

function resize(file: SpaceFile, collection: string, { count, bytes }: { count: number; bytes: number }): void {
  file.run('update collections set count = count + ?, bytes = bytes + ? where name = ?', count, bytes, collection)
}
