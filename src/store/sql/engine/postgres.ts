import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { Dialect, PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { Client, escapeIdentifier, Pool } from 'pg'
import { requirePackage } from '../../../lib/optional-package.js'
import type { ServerAddress } from './server-address.js'
import { Lost, Unreachable, withoutValues } from './server-faults.js'

const require = createRequire(import.meta.url ?? __filename)

/** How long after the server's own limit a statement may take before the connection counts as dead. */
const graceMs = 2_000

/** How long a statement waits for a row that another transaction holds. */
const lockTimeoutMs = 2_000

/** How long a transaction may be idle: a process that hangs must not keep its locks. */
const idleInTransactionMs = 10_000

/** Prepared statements on each connection. A statement with a list has another text for each length, so it is not prepared. */
const preparedLimit = 256
const preparedParameters = 32

export interface PostgresOptions {
  /** For migrations: one connection without time limits for statements. Default: false. */
  patient?: boolean
  /** False: no statement is prepared, so the server plans each for the sizes that its tables have by then. Default: true. */
  prepares?: boolean
  /** Called once when a pooler turns out to share connections, although the URL does not say `pgbouncer=true`. */
  onPooler?: (() => void) | undefined
}

/** The part of the package pg that we use. */
interface Pg {
  Client: typeof Client
  Pool: typeof Pool
  escapeIdentifier: typeof escapeIdentifier
}

/** @throws what `require` throws where the package is missing */
export function requirePg(): Pg {
  return requirePackage('pg', () => require('pg'))
}

/** Kysely over `openPostgresPool`. */
export async function openPostgres(address: ServerAddress, options: PostgresOptions = {}): Promise<Dialect> {
  const pool = openPostgresPool(address, options)
  const { PostgresDialect } = await import('kysely')
  return new PostgresDialect({ pool })
}

/**
 * A pool of connections to a PostgreSQL server. No error of a connection that is idle, or between two statements of a
 * transaction, may reach the process as an uncaught one.
 *
 * @throws what `require` throws where the package is missing
 */
export function openPostgresPool(
  address: ServerAddress,
  { patient = false, prepares = true, onPooler }: PostgresOptions = {},
): PostgresPool {
  const pg = requirePg()
  const pool = new pg.Pool({
    application_name: 'latchkey',
    connectionString: address.url,
    ...(address.tls && { ssl: address.tls }),
    max: patient ? 1 : address.connectionLimit,
    connectionTimeoutMillis: address.connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
    keepAlive: true,
    ...(patient ? {} : limitsOf(address)),
  })
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const names = createNames(prepares && !address.pooled && !patient, onPooler)
  return { connect: () => acquire(pool, names), end: () => pool.end() }
}

/** PgBouncer refuses parameters of a session. Each transaction names its isolation in the statement that begins it. */
function limitsOf({ statementTimeoutMs, pooled }: ServerAddress) {
  const waits = { query_timeout: statementTimeoutMs + graceMs }
  if (pooled) return waits
  return {
    ...waits,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  }
}

/** The name of a prepared statement; undefined if it is not prepared. */
interface Names {
  of(text: string, parameters: number): string | undefined
  stop(): void
}

/** The name is made from the text, so that it cannot mean another text on a connection that a pooler shares. */
function createNames(enabled: boolean, onPooler?: () => void): Names {
  const names = new Map<string, string>()
  let stopped = !enabled
  return {
    of(text, parameters) {
      if (stopped || parameters === 0 || parameters > preparedParameters) return undefined
      const known = names.get(text)
      if (known !== undefined || names.size >= preparedLimit) return known
      const name = `latchkey_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`
      names.set(text, name)
      return name
    },
    stop() {
      if (!stopped) onPooler?.()
      stopped = true
    },
  }
}

async function acquire(pool: Pool, names: Names): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new Unreachable(error)
  })
  let broken = false
  let inTransaction = false

  async function run(text: string, values: readonly unknown[]) {
    // When a connection breaks, the server rolls back by itself. A ROLLBACK here would fail and hide the cause.
    if (broken && text === 'rollback') return { command: 'ROLLBACK', rowCount: 0, rows: [] }
    if (/^(begin|start transaction)/.test(text)) inTransaction = true
    const name = names.of(text, values.length)
    try {
      return await client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    } catch (error) {
      const plain = withoutValues(error)
      if (isNameLost(plain)) {
        names.stop()
        // Nothing was run. A transaction must begin again, because the error has ended it.
        if (name !== undefined && !inTransaction) return run(text, values)
      }
      const fault = faultOf(plain)
      broken = fault !== plain
      throw fault
    }
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    return run(String(text), values)
  }
  return { query, release: () => client.release(broken) }
}

/** The error itself when the server reported it and the connection is as good as before. */
function faultOf(error: unknown): unknown {
  const { severity, code, message } = error instanceof Error ? fieldsOf(error) : {}
  if (severity === undefined) return new Lost(error)
  if (/^(57P|08|25P03)/.test(code ?? '')) return new Lost(error)
  // A column was added to a table, and this connection has an older plan for its rows. Nothing was run.
  if (code === '0A000' && message?.includes('cached plan')) return new Unreachable(error)
  return isNameLost(error) ? new Unreachable(error) : error
}

/**
 * A prepared statement is gone (26000), or there already (42P05): a pooler shares the connections of the server, and the
 * URL does not say `pgbouncer=true`. PgBouncer keeps statements even of processes that have ended.
 */
function isNameLost(error: unknown): boolean {
  const { code } = error instanceof Error ? fieldsOf(error) : {}
  return code === '26000' || code === '42P05'
}

function fieldsOf(error: Error): { severity?: string; code?: string; message?: string } {
  return error
}
