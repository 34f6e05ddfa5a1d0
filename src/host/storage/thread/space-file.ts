import { statSync } from 'node:fs'
import { type OpenSqlite, openSqlite } from '../../../store/sql/engine/sqlite-driver.js'
import { makePrivateFile } from '../../../store/sql/engine/sqlite-file.js'
import { StoreError } from '../../documents/store-error.js'
import { numberAt } from './rows.js'
import { migrate } from './schema.js'

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
