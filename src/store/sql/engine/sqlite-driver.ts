import { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { isBusy } from './retry.js'

/** How long a statement may wait for another process's lock inside the driver, which blocks the event loop meanwhile. */
const busyTimeoutMs = 50

/** What a burst of writes leaves of the -wal file once all of it is in the database; it is written back every 4 MB. */
const keptLogBytes = 16 * 1024 * 1024

/** Kept statements; beyond this many all are dropped: lists of differing length make texts of their own. */
const statementLimit = 256

/** What is wrong with the setting `database` where neither driver is there. */
export const missingSqliteDriver =
  'SQLite needs Node 22.16 or newer, which brings its own driver, or the package better-sqlite3 (npm install better-sqlite3).'

export type SqliteDriverName = 'node:sqlite' | 'better-sqlite3'

/** An open SQLite file in the shape of Kysely's SqliteDialect, whichever driver is below. */
export interface OpenSqlite extends SqliteDatabase {
  driver: SqliteDriverName
  /** Runs statements without parameters. */
  exec(sql: string): void
}

interface RawStatement {
  all(...parameters: readonly unknown[]): unknown[]
  run(...parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
}

/** The part of both drivers that is alike. */
interface RawDatabase {
  prepare(sql: string): RawStatement
  exec(sql: string): unknown
  close(): unknown
}

interface OpenedDriver {
  name: SqliteDriverName
  database: RawDatabase
  returnsRows(statement: RawStatement): boolean
  inTransaction(): boolean
}

/**
 * Opens the file with node:sqlite where this Node has it, else with better-sqlite3.
 *
 * @throws {Error} when there is no driver, or what the driver throws about the file
 */
export async function openSqlite(file: string, { readOnly = false } = {}): Promise<OpenSqlite> {
  const opened = openWithNode(file, readOnly) ?? (await openWithBetterSqlite(file, readOnly))
  try {
    if (!readOnly) prepareConnection(opened.database)
    return adapt(opened)
  } catch (error) {
    opened.database.close()
    throw error
  }
}

/**
 * synchronous FULL: one fsync for each commit. NORMAL survives kill -9 as well, since what was written is in the
 * kernel's cache; but a power loss may take the last commits with it. Here that would wake ended sessions and used
 * one-time tokens again, and sign out whoever holds the successor of a rotation that the file no longer knows.
 * A sign-in costs hundreds of milliseconds of hashing and nothing on the hot path writes: we can pay for the fsync.
 */
function prepareConnection(database: RawDatabase): void {
  // Whoever opens tries again and again: the driver need not wait as well.
  database.exec('pragma busy_timeout = 0')
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  // SQLite writes over the log once it is in the file, but never makes it smaller by itself.
  database.exec(`pragma journal_size_limit = ${keptLogBytes}`)
  database.exec('pragma foreign_keys = on')
  // Fails now, not at the first sign-in, when the file cannot be written: BEGIN IMMEDIATE alone would be granted.
  database.exec('begin immediate; create table latchkey_probe (written integer); rollback')
  database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
}

/** What Kysely asks of a driver; statements are prepared once, and a storm of busy answers costs one wait, not many. */
function adapt({ name, database, returnsRows, inTransaction }: OpenedDriver): OpenSqlite {
  const statements = new Map<string, SqliteStatement>()
  const patience = createPatience(database)

  function prepare(sql: string): SqliteStatement {
    const raw = database.prepare(sql)
    const run: SqliteStatement['run'] = (parameters) => patience.during(sql, () => raw.run(...parameters))
    return {
      reader: returnsRows(raw),
      all: (parameters) => patience.during(sql, () => raw.all(...parameters)),
      // SQLite rolls back by itself on a full disk and the like; Kysely's own rollback must not hide that error.
      run: sql === 'rollback' ? (parameters) => (inTransaction() ? run(parameters) : nothingDone) : run,
      iterate: (parameters) => raw.iterate(...parameters),
    }
  }

  return {
    driver: name,
    prepare(sql) {
      const known = statements.get(sql) ?? prepare(sql)
      if (statements.size >= statementLimit) statements.clear()
      statements.set(sql, known)
      return known
    },
    exec: (sql) => void database.exec(sql),
    close: () => void database.close(),
  }
}

const nothingDone = { changes: 0, lastInsertRowid: 0 } as const

/**
 * The driver waits by blocking the event loop. Once it has waited in vain, further statements fail at once, and the
 * steps wait beside the loop, until a write has succeeded again: twenty steps block for 50 ms, not for a second.
 */
function createPatience(database: RawDatabase) {
  let patient = true
  function set(value: boolean): void {
    patient = value
    database.exec(`pragma busy_timeout = ${value ? busyTimeoutMs : 0}`)
  }
  return {
    during<T>(sql: string, run: () => T): T {
      try {
        const result = run()
        if (!patient && isWrite(sql)) set(true)
        return result
      } catch (error) {
        if (patient && isBusy(error)) set(false)
        throw error
      }
    },
  }
}

function isWrite(sql: string): boolean {
  return /^(insert|update|delete|commit)/.test(sql)
}

/** Whether this Node needs no package for SQLite. */
export function nodeBringsSqlite(): boolean {
  return isNodeSqlite(process.getBuiltinModule('node:sqlite'))
}

function openWithNode(file: string, readOnly: boolean): OpenedDriver | null {
  const sqlite: unknown = process.getBuiltinModule('node:sqlite')
  if (!isNodeSqlite(sqlite)) return null
  const database = new sqlite.DatabaseSync(file, { readOnly })
  return {
    name: 'node:sqlite',
    database,
    returnsRows: (statement) => isNodeStatement(statement) && statement.columns().length > 0,
    inTransaction: () => database.isTransaction,
  }
}

interface NodeSqlite {
  DatabaseSync: new (file: string, options: { readOnly: boolean }) => RawDatabase & { isTransaction: boolean }
  StatementSync: { prototype: object }
}

/** The first releases of node:sqlite are behind a flag or lack `columns` and `isTransaction` (both came with 22.16). */
function isNodeSqlite(value: unknown): value is NodeSqlite {
  if (typeof value !== 'object' || value === null || !('StatementSync' in value)) return false
  const { StatementSync } = value
  return typeof StatementSync === 'function' && 'columns' in StatementSync.prototype
}

function isNodeStatement(statement: RawStatement): statement is RawStatement & { columns(): unknown[] } {
  return 'columns' in statement
}

async function openWithBetterSqlite(file: string, readOnly: boolean): Promise<OpenedDriver> {
  const database = new (loadBetterSqlite())(file, { readonly: readOnly })
  return {
    name: 'better-sqlite3',
    database,
    returnsRows: (statement) => 'reader' in statement && statement.reader === true,
    inTransaction: () => database.inTransaction,
  }
}

/** By require: it is native code, which no bundle can hold, and `import()` of it costs 3 MB more. */
function loadBetterSqlite(): typeof BetterSqlite {
  try {
    return createRequire(import.meta.url)('better-sqlite3')
  } catch (cause) {
    throw new Error(`database: ${missingSqliteDriver}`, { cause })
  }
}
