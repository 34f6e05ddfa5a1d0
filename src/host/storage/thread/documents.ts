import type { Documents, ScanPage, StoredDocument, VersionedChange } from '../../ports.js'
import { keysIn } from '../indexing/index-row.js'
import {
  changeRowsOf,
  changesOf,
  chooseChanges,
  chooseRows,
  type Found,
  growthOf,
  lossOf,
  type RemovedRow,
  type Row,
  removalsOf,
  requireExpected,
  requireFewBytes,
  rowOf,
  type Target,
  type WrittenRow,
  withVersions,
} from '../indexing/written-rows.js'
import { bytesOf, changeEntries, dropIndex, indexesOf } from './entries.js'
import type { SpaceFile } from './space-file.js'
import { createCollection, numberAt, numberOf, tableOf, textAt } from './space-file.js'

const pageBytes = 256 * 1024

/** The documents in a space's file. Its callers have checked names, ids and sizes. */
export function createDocuments(file: SpaceFile): Documents {
  return {
    async get(collection, id) {
      const table = tableOf(file, collection)
      const row = table && file.row(`select id, ver, body from ${table} where id = ?`, id)
      return row ? storedOf(row) : null
    },
    async put(collection, id, body, ifVersion) {
      const target = targetOf(file, collection)
      const row = rowOf(target, { id, body })
      file.requireRoom(roomFor([row]))
      return file.transaction(() => {
        const found = findRow(file, target, id)
        requireExpected(found, ifVersion)
        const version = takeVersions(file, 1)
        writeRows(file, target, [{ ...row, version, found }])
        return version
      })
    },
    async remove(collection, id, ifVersion) {
      return file.transaction(() => {
        const target = targetOf(file, collection)
        const found = findRow(file, target, id)
        requireExpected(found, ifVersion)
        if (found !== null) removeRows(file, target, [{ id, found }])
        return found !== null
      })
    },
    scan: async (collection, options) => scan(file, tableOf(file, collection), options),
    async putMany(collection, sent, ifVersion) {
      const target = targetOf(file, collection)
      const rows = sent.map((each) => rowOf(target, each))
      file.requireRoom(roomFor(rows))
      return file.transaction(() => putMany(file, target, rows, ifVersion))
    },
    changeMany: async (collection, changes) => changeMany(file, targetOf(file, collection), changes),
    async count(collection) {
      const row = file.row('select count from collections where name = ?', collection)
      return row ? numberAt(row, 'count') : 0
    },
    /** The rows go later, page by page: `tidy.ts`. */
    drop: async (collection) =>
      file.transaction(() => {
        for (const index of indexesOf(file, numberOf(file, collection))) dropIndex(file, index)
        file.run('insert into dropped select n from collections where name = ?', collection)
        file.run('delete from collections where name = ?', collection)
      }),
    list: async () =>
      file.rows('select name, count, bytes from collections order by name').map((row) => ({
        name: textAt(row, 'name'),
        count: numberAt(row, 'count'),
        bytes: numberAt(row, 'bytes'),
      })),
  }
}

function putMany(file: SpaceFile, target: Target, rows: readonly Row[], ifVersion: 'absent' | 'any'): string[] {
  const find = ifVersion === 'any' ? boundedFinder(file, target) : (id: string) => findRow(file, target, id)
  const { existing, chosen } = chooseRows(rows, ifVersion, find)
  if (chosen.length > 0) writeRows(file, target, withVersions(chosen, takeVersions(file, chosen.length)))
  return existing
}

function changeMany(file: SpaceFile, target: Target, sent: readonly VersionedChange[]) {
  const changes = changeRowsOf(target, sent)
  const rows = changes.flatMap(({ row }) => row ?? [])
  if (rows.length > 0) file.requireRoom(roomFor(rows))
  return file.transaction(() => {
    const find = boundedFinder(file, target)
    const { overtaken, removed, written } = chooseChanges(target, changes, ({ id, version }) => find(id, version))
    if (removed.length > 0) removeRows(file, target, removed)
    if (written.length > 0) writeRows(file, target, withVersions(written, takeVersions(file, written.length)))
    return { changed: removed.length + written.length, overtaken }
  })
}

function scan(
  file: SpaceFile,
  table: string | null,
  { after, reverse, limit }: { after: string | null; reverse: boolean; limit: number },
): ScanPage {
  if (table === null) return { documents: [], next: null }
  const from = after === null ? '' : `where id ${reverse ? '<' : '>'} ?`
  const sql = `select id, ver, body from ${table} ${from} order by id ${reverse ? 'desc' : 'asc'} limit ?`
  const documents: StoredDocument[] = []
  let bytes = 0
  for (const row of file.iterate(sql, ...(after === null ? [] : [after]), limit + 1)) {
    const stored = storedOf(row)
    bytes += Buffer.byteLength(stored.body)
    const last = documents.at(-1)
    if (last && (bytes > pageBytes || documents.length >= limit)) return { documents, next: last.id }
    documents.push(stored)
  }
  return { documents, next: null }
}

function storedOf(row: unknown): StoredDocument {
  return { id: textAt(row, 'id'), version: numberAt(row, 'ver'), body: textAt(row, 'body') }
}

function targetOf(file: SpaceFile, collection: string): Target {
  const n = numberOf(file, collection)
  return { collection, n, indexes: indexesOf(file, n) }
}

/** The bytes that writing the rows adds, about. */
function roomFor(rows: readonly Row[]): number {
  return rows.reduce((sum, { id, body, keys }) => sum + Buffer.byteLength(body) + bytesOf(id, keys), 0)
}

/** @param wanted finds it in this version only */
function findRow(file: SpaceFile, { n, indexes }: Target, id: string, wanted?: number): Found | null {
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
function boundedFinder(file: SpaceFile, target: Target): (id: string, version?: number) => Found | null {
  let bytes = 0
  return (id, version) => {
    const found = findRow(file, target, id, version)
    bytes += found?.bytes ?? 0
    requireFewBytes(bytes)
    return found
  }
}

/** The last of as many versions as asked for. */
function takeVersions(file: SpaceFile, count: number): number {
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
function writeRows(file: SpaceFile, { collection, n, indexes }: Target, rows: readonly WrittenRow[]): void {
  const sql = `insert into c${n ?? createCollection(file, collection)} (id, ver, body) values (?, ?, ?)
    on conflict (id) do update set ver = excluded.ver, body = excluded.body`
  for (const { id, body, version } of rows) file.run(sql, id, version, body)
  changeEntries(file, indexes, changesOf(rows))
  resize(file, collection, growthOf(rows))
}

/** Call it in a transaction. */
function removeRows(file: SpaceFile, { collection, n, indexes }: Target, rows: readonly RemovedRow[]): void {
  for (const { id } of rows) file.run(`delete from c${n} where id = ?`, id)
  changeEntries(file, indexes, removalsOf(rows))
  resize(file, collection, lossOf(rows))
}

function resize(file: SpaceFile, collection: string, { count, bytes }: { count: number; bytes: number }): void {
  file.run('update collections set count = count + ?, bytes = bytes + ? where name = ?', count, bytes, collection)
}
