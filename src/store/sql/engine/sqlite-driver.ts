import { createRequire } from 'node:module'
import type BetterSqlite from 'better-sqlite3'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { requirePackage } from '../../../lib/optional-package.js'
import { isBusy } from './retry.js'

const require = createRequire(import.meta.url ?? __filename)

/** How long a statement may wait inside the driver for another process's lock. This wait blocks the event loop. */
const busyTimeoutMs = 50

/** How much of the -wal file is kept after a burst of writes. SQLite writes it back into the database every 4 MB. */
const keptLogBytes = 16 * 1024 * 1024

/** Prepared statements that are kept. Beyond this many all are dropped, because lists of every length make new texts. */
const statementLimit = 256

/** The fault of the setting `database` when neither driver is there. */
export const missingSqliteDriver =
  'SQLite needs Node 22.16 or newer, which brings its own driver, or the package better-sqlite3 (npm install better-sqlite3).'

export type SqliteDriverName = 'node:sqlite' | 'better-sqlite3'

/** An open SQLite file in the shape of Kysely's SqliteDialect, with either driver. */
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

/** The common part of both drivers. */
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
 * Opens the file with node:sqlite if this version of Node has it, otherwise with better-sqlite3.
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
 * synchronous FULL: one fsync for each commit. NORMAL survives kill -9 as well, because the kernel's cache holds the writes.
 * But a power loss may undo the last commits. That would revive ended sessions and used one-time tokens, and sign out a user
 * whose new refresh token the file no longer knows. A sign-in costs hundreds of milliseconds of hashing, and ordinary
 * requests write nothing, so the fsync is affordable.
 */
function prepareConnection(database: RawDatabase): void {
  // The caller retries opening by itself, so the driver need not wait as well.
  database.exec('pragma busy_timeout = 0')
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  // SQLite reuses the log once its content is in the database, but never shrinks it by itself.
  database.exec(`pragma journal_size_limit = ${keptLogBytes}`)
  database.exec('pragma foreign_keys = on')
  // A write, so that a read-only file fails now and not at the first sign-in: BEGIN IMMEDIATE alone would succeed.
  database.exec('begin immediate; create table latchkey_probe (written integer); rollback')
  database.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
}

/** The interface that Kysely expects. Statements are prepared once, and of many busy errors in a row only the first one waits. */
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
 * The driver waits by blocking the event loop. After one vain wait, statements fail at once and the steps wait without blocking,
 * until a write succeeds again. So twenty steps block for 50 ms in total, not for a second.
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

/** Older releases of node:sqlite need a flag, or lack `columns` and `isTransaction` (both came with 22.16). */
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

/** By `require`, because `import()` of the package costs 3 MB more. */
function loadBetterSqlite(): typeof BetterSqlite {
  try {
    return requirePackage('better-sqlite3', () => require('better-sqlite3'))
  } catch (cause) {
    throw new Error(`database: ${missingSqliteDriver}`, { cause })
  }
}
