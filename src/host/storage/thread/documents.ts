import type { Documents, ScanPage, StoredDocument, VersionedChange } from '../../ports.js'
import {
  changeRowsOf,
  chooseChanges,
  chooseRows,
  type Row,
  requireExpected,
  rowOf,
  type Target,
  withVersions,
} from '../indexing/written-rows.js'
import { numberOf, tableOf } from './collection-tables.js'
import { boundedFinder, findRow, removeRows, roomFor, takeVersions, targetOf, writeRows } from './document-rows.js'
import { dropIndex, indexesOf } from './index-rows.js'
import { numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

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
