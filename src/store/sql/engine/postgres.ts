import { createHash } from 'node:crypto'
import type { Dialect, PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { Pool } from 'pg'
import type { ServerAddress } from './server-address.js'
import { Lost, Unreachable, withoutValues } from './server-faults.js'

/** What a statement may take beyond the server's own limit before the network counts as dead. */
const graceMs = 2_000

/** How long a statement waits for a row that another transaction holds. */
const lockTimeoutMs = 2_000

/** How long a transaction may do nothing: a process that stands still must not hold its locks. */
const idleInTransactionMs = 10_000

/** Kept on each connection; lists of differing length make texts of their own, and are not worth it. */
const preparedLimit = 256
const preparedParameters = 32

/**
 * A pool of connections to a PostgreSQL server. No error of a connection that is idle, or between two statements of a
 * transaction, may reach the process as an uncaught one.
 *
 * @param patient for migrations: one connection, on which no statement takes too long
 */
export async function openPostgres(address: ServerAddress, patient = false): Promise<Dialect> {
  const [{ default: pg }, { PostgresDialect }] = await Promise.all([import('pg'), import('kysely')])
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
  const names = createNames(!address.pooled && !patient)
  return new PostgresDialect({ pool: { connect: () => acquire(pool, names), end: () => pool.end() } })
}

/** PgBouncer refuses parameters of a session. Isolation is told with each transaction, in the statement that begins it. */
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

/** Under which name a statement is prepared; undefined: it is not. */
interface Names {
  of(text: string, parameters: number): string | undefined
  stop(): void
}

/** A name says the text: where connections are shared after all, it can never stand for another one. */
function createNames(enabled: boolean): Names {
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
      stopped = true
    },
  }
}

async function acquire(pool: Pool, names: Names): Promise<PostgresPoolClient> {
  const client = await pool.connect().catch((error: unknown) => {
    throw new Unreachable(error)
  })
  let broken = false

  async function run(text: string, values: readonly unknown[]) {
    // The server has rolled back what a broken connection had begun; to ask for it would hide what went wrong.
    if (broken && text === 'rollback') return { command: 'ROLLBACK', rowCount: 0, rows: [] }
    const name = names.of(text, values.length)
    try {
      return await client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    } catch (error) {
      const fault = faultOf(withoutValues(error), names)
      broken = fault !== error
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
function faultOf(error: unknown, names: Names): unknown {
  const { severity, code, message } = error instanceof Error ? fieldsOf(error) : {}
  if (severity === undefined) return new Lost(error)
  if (/^(57P|08|25P03)/.test(code ?? '')) return new Lost(error)
  // A column was added to a table whose rows this connection has a plan for: nothing was run.
  if (code === '0A000' && message?.includes('cached plan')) return new Unreachable(error)
  if (code !== '26000' && code !== '42P05') return error
  // Somebody between us and the server hands connections about, who was not announced by `pgbouncer=true`.
  names.stop()
  return new Unreachable(error)
}

function fieldsOf(error: Error): { severity?: string; code?: string; message?: string } {
  return error
}
