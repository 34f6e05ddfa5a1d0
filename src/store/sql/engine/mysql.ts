import { Socket } from 'node:net'
import type { Dialect, MysqlPool, MysqlPoolConnection, MysqlQueryResult } from 'kysely'
import type { Pool, PoolConnection, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2'
import { memberOf } from '../../../lib/members.js'
import type { ServerAddress } from './server-address.js'
import { Lost, Unreachable, withoutValues } from './server-faults.js'

/** What a statement may take beyond the server's own limit before the network counts as dead. */
const graceMs = 2_000

/** How long a statement waits for a row that another transaction holds, and how long a transaction may do nothing. */
const lockTimeoutSeconds = 2
const idleInTransactionSeconds = 10

/**
 * What every connection of ours is set to, whatever the server's defaults are:
 *
 * READ COMMITTED, because a step writes on a condition and then reads: under REPEATABLE READ it would read what was there
 * when the transaction began. UTC, because `sysdate` is converted to a time of the session, and in a zone with summer time
 * one hour of the year stands for two. Strict, so that nothing is cut to fit; without NO_BACKSLASH_ESCAPES, by which the
 * driver's escapes would be none. `/*M!` is read by MariaDB only, `/*!80000` by MySQL only.
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
 * @param patient for migrations: one connection, on which no statement takes too long
 */
export async function openMysql(address: ServerAddress, patient = false): Promise<Dialect> {
  const [{ createPool }, { MysqlDialect }] = await Promise.all([import('mysql2'), import('kysely')])
  const { url, connectionLimit, connectTimeoutMs, tls } = address
  const pool = createPool({
    uri: url,
    connectionLimit: patient ? 1 : connectionLimit,
    connectTimeout: connectTimeoutMs,
    charset: 'UTF8MB4_UNICODE_CI',
    // mysql2 checks the certificate of a server by itself, but its name only when it is told to.
    ...(tls && { ssl: { ...tls, verifyIdentity: tls.rejectUnauthorized } }),
  })
  pool.on('connection', (connection) => connection.on('error', () => {}))
  const deadlineMs = patient ? undefined : address.statementTimeoutMs + graceMs
  const acquire = createAcquire(pool, { sessionSql: sessionOf(address, patient), waitMs: connectTimeoutMs, deadlineMs })
  const guarded: MysqlPool = {
    getConnection(answer) {
      acquire().then(
        (connection) => answer(null, connection),
        // The type asks for a connection also where there is none.
        (error: unknown) => Reflect.apply(answer, null, [error]),
      )
    },
    end: (answer) => pool.end(answer),
  }
  return new MysqlDialect({ pool: guarded })
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

/** The pool itself waits for ever. */
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
    // The server has rolled back what a broken connection had begun; to ask for it would hide what went wrong.
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

/** An error that the server reported has a SQL state; every other one is of the connection. */
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error) || !('sqlState' in error) || ('fatal' in error && error.fatal === true)) return true
  return farewells.includes('code' in error ? error.code : null)
}

function socketOf(connection: PoolConnection): Socket | null {
  const stream = memberOf(connection, 'stream')
  return stream instanceof Socket ? stream : null
}
