import type { StoredDocument } from '../../ports.js'
import { createCollection, numberOf } from './collection-tables.js'
import { bytesOf, changeEntries, type IndexKeys, keysIn } from './entries.js'
import { type IndexRow, indexesOf } from './index-rows.js'
import { numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

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

interface Written extends Row {
  version: number
  found: Found | null
}

export function targetOf(file: SpaceFile, collection: string): Target {
  const n = numberOf(file, collection)
  return { collection, n, indexes: indexesOf(file, n) }
}

export function rowOf({ indexes }: Target, { id, body }: Pick<StoredDocument, 'id' | 'body'>): Row {
  return { id, body, keys: keysIn(indexes, id, body) }
}

/** The bytes that writing the rows adds, about. */
export function roomFor(rows: readonly Row[]): number {
  return rows.reduce((sum, { id, body, keys }) => sum + Buffer.byteLength(body) + bytesOf(id, keys), 0)
}

export function findRow(file: SpaceFile, { n, indexes }: Target, id: string): Found | null {
  if (n === null) return null
  const columns = indexes.length === 0 ? `'' as body` : 'body'
  const row = file.row(`select ver, octet_length(body) as bytes, ${columns} from c${n} where id = ?`, id)
  if (!row) return null
  return {
    version: numberAt(row, 'ver'),
    bytes: numberAt(row, 'bytes'),
    keys: keysIn(indexes, id, textAt(row, 'body')),
  }
}

/** The last of as many versions as asked for. */
export function takeVersions(file: SpaceFile, count: number): number {
  return numberAt(file.row('update space set version = version + ? returning version', count), 'version')
}

/**
 * Writes documents and their entries. Call it in a transaction.
 *
 * @throws {StoreError} `already_exists`, `query_invalid`, `quota_exceeded`
 */
export function writeRows(file: SpaceFile, { collection, n, indexes }: Target, rows: readonly Written[]): void {
  const sql = `insert into c${n ?? createCollection(file, collection)} (id, ver, body) values (?, ?, ?)
    on conflict (id) do update set ver = excluded.ver, body = excluded.body`
  let [count, bytes] = [0, 0]
  for (const { id, body, version, found } of rows) {
    file.run(sql, id, version, body)
    count += found === null ? 1 : 0
    bytes += Buffer.byteLength(body) - (found?.bytes ?? 0)
  }
  const changes = rows.map(({ id, keys, found }) => ({ id, before: found?.keys ?? null, after: keys }))
  changeEntries(file, indexes, changes)
  resize(file, collection, count, bytes)
}

/** Call it in a transaction. */
export function removeRow(file: SpaceFile, { collection, n, indexes }: Target, id: string, found: Found): void {
  file.run(`delete from c${n} where id = ?`, id)
  changeEntries(file, indexes, [{ id, before: found.keys, after: null }])
  resize(file, collection, -1, -found.bytes)
}

function resize(file: SpaceFile, collection: string, count: number, bytes: number): void {
  file.run('update collections set count = count + ?, bytes = bytes + ? where name = ?', count, bytes, collection)
}
