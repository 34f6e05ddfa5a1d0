import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import type { Dialect, MysqlPool, MysqlPoolConnection, MysqlQueryResult } from 'kysely'
import type { createPool, Pool, PoolConnection, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2'
import { memberOf } from '../../../lib/members.js'
import { requirePackage } from '../../../lib/optional-package.js'
import type { ServerAddress } from './server-address.js'
import { Lost, Unreachable, withoutValues } from './server-faults.js'

const require = createRequire(import.meta.url ?? __filename)

/** How long after the server's own limit a statement may take before the connection counts as dead. */
const graceMs = 2_000

/** How long a statement waits for a row that another transaction holds, and how long a transaction may do nothing. */
const lockTimeoutSeconds = 2
const idleInTransactionSeconds = 10

/**
 * The settings of each connection, whatever the server's defaults are:
 *
 * READ COMMITTED, because a step writes on a condition and then reads. Under REPEATABLE READ it would read the state at the
 * start of the transaction. UTC, because `sysdate` has the time zone of the session, and with summer time one hour of the year
 * occurs twice. Strict mode, so that no value is truncated. NO_BACKSLASH_ESCAPES is off, because the driver escapes with
 * backslashes. Only MariaDB reads `/*M!`, and only MySQL reads `/*!80000`.
 */
function sessionOf({ statementTimeoutMs }: ServerAddress, patient: boolean): string[] {
  const limits = `/*M! max_statement_time = ${statementTimeoutMs / 1_000}, idle_transaction_timeout = ${idleInTransactionSeconds}, */
    /*!80000 max_execution_time = ${statementTimeoutMs}, */ innodb_lock_wait_timeout = ${lockTimeoutSeconds},`
  return [
    'set session transaction isolation level read committed',
    `set session ${patient ? '' : limits} time_zone = '+00:00',
      sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`,
  ]
}

/**
 * A pool of connections to a MySQL or MariaDB server. No error of a connection that is idle, or between two statements
 * of a transaction, may reach the process as an uncaught one.
 *
 * @param patient for migrations: one connection without time limits for statements
 */
export async function openMysql(address: ServerAddress, patient = false): Promise<Dialect> {
  const mysql = requireMysql()
  const { MysqlDialect } = await import('kysely')
  const { url, connectionLimit, connectTimeoutMs, tls } = address
  const pool = mysql.createPool({
    uri: url,
    connectionLimit: patient ? 1 : connectionLimit,
    connectTimeout: connectTimeoutMs,
    charset: 'UTF8MB4_UNICODE_CI',
    // mysql2 checks the server's certificate by default, but not the server's name.
    ...(tls && { ssl: { ...tls, verifyIdentity: tls.rejectUnauthorized } }),
  })
  pool.on('connection', (connection) => connection.on('error', () => {}))
  const deadlineMs = patient ? undefined : address.statementTimeoutMs + graceMs
  const acquire = createAcquire(pool, { sessionSql: sessionOf(address, patient), waitMs: connectTimeoutMs, deadlineMs })
  const guarded: MysqlPool = {
    getConnection(answer) {
      acquire().then(
        (connection) => answer(null, connection),
        // The type requires a connection, although there may be none.
        (error: unknown) => Reflect.apply(answer, null, [error]),
      )
    },
    end: (answer) => pool.end(answer),
  }
  return new MysqlDialect({ pool: guarded })
}

/** @throws what `require` throws where the package is missing */
function requireMysql(): { createPool: typeof createPool } {
  return requirePackage('mysql2', () => require('mysql2'))
}

interface Limits {
  /** Run once on each connection. */
  sessionSql: readonly string[]
  /** For a connection. */
  waitMs: number
  /** For a statement, as this process sees it. */
  deadlineMs: number | undefined
}

function createAcquire(pool: Pool, { sessionSql, waitMs, deadlineMs }: Limits): () => Promise<MysqlPoolConnection> {
  const prepared = new WeakSet<PoolConnection>()

  return async () => {
    const connection = await take(pool, waitMs)
    // An idle connection keeps no process alive that has nothing else to do.
    socketOf(connection)?.ref()
    if (prepared.has(connection)) return guard(connection, deadlineMs)
    try {
      for (const sql of sessionSql) await ask(connection, { sql, values: [], timeout: waitMs })
    } catch (error) {
      connection.destroy()
      throw new Unreachable(error)
    }
    prepared.add(connection)
    return guard(connection, deadlineMs)
  }
}

/** Limits the wait for a connection, because the pool itself waits for ever. */
function take(pool: Pool, waitMs: number): Promise<PoolConnection> {
  return new Promise((resolve, reject) => {
    let waiting = true
    const timer = setTimeout(() => {
      waiting = false
      reject(new Unreachable(new Error('time-out')))
    }, waitMs)
    pool.getConnection((error, connection) => {
      clearTimeout(timer)
      if (error) return reject(new Unreachable(error))
      if (waiting) return resolve(connection)
      connection.release()
    })
  })
}

function guard(connection: PoolConnection, deadlineMs: number | undefined): MysqlPoolConnection {
  let broken = false

  async function run(sql: string, values: unknown[]): Promise<MysqlQueryResult> {
    // When a connection breaks, the server rolls back by itself. A ROLLBACK here would fail and hide the cause.
    if (broken && sql === 'rollback') return []
    try {
      return await ask(connection, { sql, values, ...(deadlineMs !== undefined && { timeout: deadlineMs }) })
    } catch (error) {
      if (!isBroken(error)) throw error
      broken = true
      throw new Lost(error)
    }
  }

  function query(sql: string, values: unknown[]): never
  function query(sql: string, values: unknown[], answer: Answer): void
  function query(sql: string, values: unknown[], answer?: Answer): void {
    if (!answer) throw new Error('Nothing of ours reads rows as a stream.')
    run(sql, values).then(
      (result) => answer(null, result),
      (error: unknown) => Reflect.apply(answer, null, [error]),
    )
  }
  return {
    query,
    release() {
      if (broken) return connection.destroy()
      socketOf(connection)?.unref()
      connection.release()
    },
  }
}

type Answer = (error: unknown, result: MysqlQueryResult) => void

function ask(connection: PoolConnection, options: QueryOptions): Promise<MysqlQueryResult> {
  return new Promise((resolve, reject) => {
    connection.query<RowDataPacket[] | ResultSetHeader>(options, (error, result) => {
      if (error) reject(withoutValues(error))
      else resolve(result)
    })
  })
}

/** Errors of the server that end the connection, though they answer a statement. */
const farewells: readonly unknown[] = [
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_CLIENT_INTERACTION_TIMEOUT',
]

/** Errors that the server reports have an SQL state. All others come from the connection. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error) || !('sqlState' in error) || ('fatal' in error && error.fatal === true)) return true
  return farewells.includes('code' in error ? error.code : null)
}

function socketOf(connection: PoolConnection): Socket | null {
  const stream = memberOf(connection, 'stream')
  return stream instanceof Socket ? stream : null
}
