import { statSync } from 'node:fs'
import { memberOf } from '../../../lib/members.js'
import { type OpenSqlite, openSqlite } from '../../../store/sql/engine/sqlite-driver.js'
import { makePrivateFile } from '../../../store/sql/engine/sqlite-file.js'
import { StoreError } from '../../documents/store-error.js'
import { requireFewCollections } from '../indexing/written-rows.js'

/** The file of one generation of a space's data. */
export interface SpaceFile {
  rows(sql: string, ...parameters: readonly unknown[]): unknown[]
  /** The first row; undefined when there is no row. */
  row(sql: string, ...parameters: readonly unknown[]): unknown
  /** Row by row, so that the caller may stop. */
  iterate(sql: string, ...parameters: readonly unknown[]): IterableIterator<unknown>
  /** Runs a statement and returns how many rows it changed. */
  run(sql: string, ...parameters: readonly unknown[]): number
  /** Runs `work` in one transaction, which is on the disk when this returns. */
  transaction<T>(work: () => T): T
  /**
   * Call it before a transaction that adds about that many bytes.
   *
   * @throws {StoreError} `quota_exceeded` when the space's quota has no room for them
   */
  requireRoom(bytes: number): void
  /** Bytes in use: pages of the file that are not free, and the write-ahead log. */
  usedBytes(): number
  close(): void
}

export interface SpaceFileOptions {
  /** Absolute path. The folder exists. */
  file: string
  quotaBytes: number
}

/** A host keeps many files open, and the kernel caches them as well. */
const cacheKibibytes = 2_000

/** Beyond the quota the file itself may grow this far, so that a full space can still delete. */
const reserveBytes = 1024 * 1024

/**
 * Opens the file with mode 0600, makes it if there is none, and brings it to the current schema.
 *
 * @throws {StoreError} `store_unavailable` for a file of a newer version; any other error of the driver
 */
export async function openSpaceFile({ file, quotaBytes }: SpaceFileOptions): Promise<SpaceFile> {
  makePrivateFile(file)
  const database = await openSqlite(file)
  try {
    migrate(database)
    const pageBytes = numberAt(database.prepare('pragma page_size').all([])[0], 'page_size')
    database.exec(`pragma cache_size = -${cacheKibibytes}`)
    database.exec(`pragma max_page_count = ${Math.ceil((quotaBytes + reserveBytes) / pageBytes)}`)
    return wrap(database, { file, quotaBytes, pageBytes })
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * The file as it is at this moment, read only, while others write to it. `close` ends it. SQLite goes on copying the log into
 * the file, but begins it anew only when no snapshot needs it any more.
 */
export async function openSnapshotFile(place: SpaceFileOptions): Promise<SpaceFile> {
  const database = await openSqlite(place.file, { readOnly: true })
  try {
    database.exec(`pragma cache_size = -${cacheKibibytes}`)
    database.exec('begin')
    // A transaction begins with its first read.
    const pageBytes = numberAt(database.prepare('pragma page_size').all([])[0], 'page_size')
    database.prepare('select version from space').all([])
    return wrap(database, { ...place, pageBytes })
  } catch (error) {
    database.close()
    throw error
  }
}

function wrap(database: OpenSqlite, place: SpaceFileOptions & { pageBytes: number }): SpaceFile {
  const { file, quotaBytes, pageBytes } = place
  const rows = (sql: string, ...parameters: readonly unknown[]) => database.prepare(sql).all(parameters)
  const run = (sql: string, ...parameters: readonly unknown[]) => Number(database.prepare(sql).run(parameters).changes)
  const pragma = (name: string) => numberAt(rows(`pragma ${name}`)[0], name)

  function usedBytes(): number {
    const logBytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    return (pragma('page_count') - pragma('freelist_count')) * pageBytes + logBytes
  }

  return {
    rows,
    row: (sql, ...parameters) => rows(sql, ...parameters)[0],
    iterate: (sql, ...parameters) => database.prepare(sql).iterate(parameters),
    run,
    transaction(work) {
      run('begin immediate')
      try {
        const result = work()
        run('commit')
        return result
      } catch (error) {
        run('rollback')
        throw error
      }
    },
    requireRoom(bytes) {
      if (usedBytes() + bytes <= quotaBytes) return
      // The log counts too, and its content may already be in the file.
      database.exec('pragma wal_checkpoint(truncate)')
      if (usedBytes() + bytes > quotaBytes) throw new StoreError('quota_exceeded', 'The space has used up its quota.')
    },
    usedBytes,
    close: () => database.close(),
  }
}

/**
 * The steps of a space's file. Their count is the file's `user_version`. A released step never changes; a change is a further
 * step.
 *
 * Numbers of collections are never used again, so a table that waits for its deletion meets no new one. Keys of pairs are
 * blobs: their order is that of their bytes, and a text may hold a NUL, at which node:sqlite would cut it.
 */
const steps: readonly string[] = [
  `create table space (version integer not null);
   insert into space values (0);
   create table collections (
     n integer primary key autoincrement,
     name text not null unique,
     count integer not null default 0,
     bytes integer not null default 0
   );
   create table dropped (n integer primary key);
   create table kv (
     keyspace blob not null,
     key blob not null,
     value blob not null,
     ends_at integer,
     primary key (keyspace, key)
   ) without rowid;
   create index kv_ends_at on kv (ends_at) where ends_at is not null;`,
  // `built_to` is the last _id that is done, '' at the beginning; null when the index is ready. `multikey` and `unordered`
  // count the documents up to there. Numbers are never used again, as those of collections.
  `create table indexes (
     i integer primary key autoincrement,
     n integer not null,
     field text not null,
     is_unique integer not null,
     built_to text default '',
     processed integer not null default 0,
     multikey integer not null default 0,
     unordered integer not null default 0,
     unique (n, field)
   );
   create table dropped_entries (name text primary key) without rowid;`,
]

/** A collection's table. Text compares by its bytes. SQLite itself checks that a body is JSON. */
function collectionTable(n: number): string {
  return `create table c${n} (
    id text primary key,
    ver integer not null,
    body text not null check (json_valid(body))
  ) without rowid`
}

/** The entries of an index. */
export function entryTable(name: string): string {
  return `create table ${name} (k blob not null, id text not null, primary key (k, id)) without rowid`
}

/** The entries that keep an index unique. */
export function uniqueTable(name: string): string {
  return `create table ${name} (k blob primary key, id text not null) without rowid`
}

/**
 * Brings the file to this version's schema in one transaction. A failure leaves the file as it was.
 *
 * @throws {StoreError} `store_unavailable` for a file of a newer version, or of another program
 */
function migrate(database: OpenSqlite): void {
  database.exec('begin immediate')
  try {
    const version = numberAt(database.prepare('pragma user_version').all([])[0], 'user_version')
    if (version > steps.length) throw refused('The data of this space was written by a newer version of the host.')
    if (version === 0 && database.prepare('select 1 from sqlite_schema limit 1').all([]).length > 0) {
      throw refused('The file of this space holds the tables of another program.')
    }
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`pragma user_version = ${steps.length}`)
    database.exec('commit')
  } catch (error) {
    database.prepare('rollback').run([])
    throw error
  }
}

function refused(message: string): StoreError {
  return new StoreError('store_unavailable', message)
}

/** A column of a row that the schema declares as an integer. */
export function numberAt(row: unknown, column: string): number {
  const value = memberOf(row, column)
  if (typeof value === 'number') return value
  throw new TypeError(`The column ${column} holds no number.`)
}

export function nullableNumberAt(row: unknown, column: string): number | null {
  return memberOf(row, column) === null ? null : numberAt(row, column)
}

/** A column of a row that the schema declares as text. */
export function textAt(row: unknown, column: string): string {
  const value = memberOf(row, column)
  if (typeof value === 'string') return value
  throw new TypeError(`The column ${column} holds no text.`)
}

export function nullableTextAt(row: unknown, column: string): string | null {
  return memberOf(row, column) === null ? null : textAt(row, column)
}

/** The UTF-8 text of a column that the schema declares as a blob. */
export function blobTextAt(row: unknown, column: string): string {
  return blobAt(row, column).toString()
}

export function blobAt(row: unknown, column: string): Buffer {
  const value = memberOf(row, column)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw new TypeError(`The column ${column} holds no bytes.`)
}

/** The number of a collection; null when there is no such collection. */
export function numberOf(file: SpaceFile, collection: string): number | null {
  const row = file.row('select n from collections where name = ?', collection)
  return row ? numberAt(row, 'n') : null
}

/** The name of a collection's table; null when there is no such collection. */
export function tableOf(file: SpaceFile, collection: string): string | null {
  const n = numberOf(file, collection)
  return n === null ? null : `c${n}`
}

/**
 * Makes a collection and returns its number.
 *
 * @throws {StoreError} `quota_exceeded`
 */
export function createCollection(file: SpaceFile, collection: string): number {
  const sums = file.row('select (select count(*) from collections) + (select count(*) from dropped) as tables')
  requireFewCollections(numberAt(sums, 'tables'))
  const n = numberAt(file.row('insert into collections (name) values (?) returning n', collection), 'n')
  file.run(collectionTable(n))
  return n
}
