import { StoreError } from '../../documents/store-error.js'
import type { Documents, IfVersion, ScanPage, StoredDocument } from '../../ports.js'
import { numberAt, textAt } from './rows.js'
import { collectionTable } from './schema.js'
import type { SpaceFile } from './space-file.js'

const pageBytes = 256 * 1024

/** Opening a file reads the definition of each table. */
const maxCollections = 1_000

/** The documents in a space's file. Its callers have checked names, ids and sizes. */
export function createDocuments(file: SpaceFile): Documents {
  return {
    async get(collection, id) {
      const table = tableOf(file, collection)
      const row = table && file.row(`select id, ver, body from ${table} where id = ?`, id)
      return row ? storedOf(row) : null
    },
    async put(collection, id, body, ifVersion) {
      file.requireRoom(Buffer.byteLength(body))
      return file.transaction(() => {
        const found = find(file, tableOf(file, collection), id)
        if (!isExpected(found, ifVersion)) throw notCurrent()
        const version = takeVersions(file, 1)
        write(file, collection, [{ id, body, version, found }])
        return version
      })
    },
    async remove(collection, id, ifVersion) {
      return file.transaction(() => {
        const table = tableOf(file, collection)
        const found = find(file, table, id)
        if (ifVersion !== 'any' && found?.version !== ifVersion) throw notCurrent()
        if (table === null || found === null) return false
        file.run(`delete from ${table} where id = ?`, id)
        resize(file, collection, -1, -found.bytes)
        return true
      })
    },
    scan: async (collection, options) => scan(file, tableOf(file, collection), options),
    async putMany(collection, rows, ifVersion) {
      file.requireRoom(rows.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0))
      return file.transaction(() => putMany(file, collection, rows, ifVersion))
    },
    async count(collection) {
      const row = file.row('select count from collections where name = ?', collection)
      return row ? numberAt(row, 'count') : 0
    },
    /** The rows go later, page by page: `tidy.ts`. */
    drop: async (collection) =>
      file.transaction(() => {
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

interface Found {
  version: number
  bytes: number
}

interface Written {
  id: string
  body: string
  version: number
  found: Found | null
}

function notCurrent(): StoreError {
  return new StoreError('not_current', 'The document has changed since it was read.')
}

function isExpected(found: Found | null, ifVersion: IfVersion): boolean {
  return ifVersion === 'any' || ifVersion === (found?.version ?? 'absent')
}

function tableOf(file: SpaceFile, collection: string): string | null {
  const row = file.row('select n from collections where name = ?', collection)
  return row ? `c${numberAt(row, 'n')}` : null
}

function createTable(file: SpaceFile, collection: string): string {
  const sums = file.row('select (select count(*) from collections) + (select count(*) from dropped) as tables')
  if (numberAt(sums, 'tables') >= maxCollections) {
    throw new StoreError('quota_exceeded', `A space holds at most ${maxCollections} collections.`)
  }
  const n = numberAt(file.row('insert into collections (name) values (?) returning n', collection), 'n')
  file.run(collectionTable(n))
  return `c${n}`
}

function find(file: SpaceFile, table: string | null, id: string): Found | null {
  const row = table && file.row(`select ver, octet_length(body) as bytes from ${table} where id = ?`, id)
  return row ? { version: numberAt(row, 'ver'), bytes: numberAt(row, 'bytes') } : null
}

/** The last of as many versions as asked for. */
function takeVersions(file: SpaceFile, count: number): number {
  return numberAt(file.row('update space set version = version + ? returning version', count), 'version')
}

/** The last version, from now on `above` at least. */
export function raiseVersions(file: SpaceFile, above: number): number {
  return numberAt(file.row('update space set version = max(version, ?) returning version', above), 'version')
}

function write(file: SpaceFile, collection: string, rows: readonly Written[]): void {
  const table = tableOf(file, collection) ?? createTable(file, collection)
  const sql = `insert into ${table} (id, ver, body) values (?, ?, ?)
    on conflict (id) do update set ver = excluded.ver, body = excluded.body`
  let [count, bytes] = [0, 0]
  for (const { id, body, version, found } of rows) {
    file.run(sql, id, version, body)
    count += found === null ? 1 : 0
    bytes += Buffer.byteLength(body) - (found?.bytes ?? 0)
  }
  resize(file, collection, count, bytes)
}

function resize(file: SpaceFile, collection: string, count: number, bytes: number): void {
  file.run('update collections set count = count + ?, bytes = bytes + ? where name = ?', count, bytes, collection)
}

function putMany(
  file: SpaceFile,
  collection: string,
  rows: readonly Pick<StoredDocument, 'id' | 'body'>[],
  ifVersion: 'absent' | 'any',
): string[] {
  const table = tableOf(file, collection)
  const existing: string[] = []
  const chosen = new Map<string, { body: string; found: Found | null }>()
  for (const { id, body } of rows) {
    const found = find(file, table, id)
    const exists = found !== null || chosen.has(id)
    if (exists) existing.push(id)
    if (!exists || ifVersion === 'any') chosen.set(id, { body, found })
  }
  if (chosen.size === 0) return existing
  const first = takeVersions(file, chosen.size) - chosen.size + 1
  const written = [...chosen].map(([id, { body, found }], index) => ({ id, body, found, version: first + index }))
  write(file, collection, written)
  return existing
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
