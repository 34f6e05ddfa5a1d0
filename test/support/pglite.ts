import { PGlite } from '@electric-sql/pglite'
import {
  type Dialect,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'

/** PostgreSQL in this process, in the shape of a `pg` pool. It has one session, so clients take turns. */
export interface TestPostgres {
  /** A dialect as an application would give it; what it closes is its own pool, not the database. */
  dialect(): Dialect
  /** Answers the rows of the last statement. */
  query(sql: string): Promise<Record<string, unknown>[]>
  pool(): PostgresPool
  /** Back to an empty database. */
  wipe(): Promise<void>
  close(): Promise<void>
}

export async function startPostgres(): Promise<TestPostgres> {
  const database = await PGlite.create()
  const turns = createTurns()
  return {
    dialect: () => new PostgresDialect({ pool: createPool(database, turns) }),
    pool: () => createPool(database, turns),
    async query(sql) {
      const results = await database.exec(sql)
      return results.at(-1)?.rows ?? []
    },
    async wipe() {
      await database.exec('drop schema public cascade; create schema public')
    },
    close: () => database.close(),
  }
}

/** Resolves with how to end the turn, in the order of asking. */
type Turns = () => Promise<() => void>

function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve()
  return () => {
    const previous = last
    return new Promise((resolve) => {
      last = new Promise((end) => previous.then(() => resolve(end)))
    })
  }
}

function createPool(database: PGlite, turns: Turns): PostgresPool {
  return {
    connect: async () => new Client(database, await turns()),
    end: async () => {},
  }
}

class Client implements PostgresPoolClient {
  readonly #database: PGlite
  readonly release: () => void

  constructor(database: PGlite, release: () => void) {
    this.#database = database
    this.release = release
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(sql: unknown, parameters: readonly unknown[] = []): unknown {
    return this.#run(String(sql), parameters)
  }

  async #run(sql: string, parameters: readonly unknown[]) {
    const { command, rowCount, rows } = await this.#database.query<unknown>(sql, [...parameters])
    return { command, rowCount: rowCount ?? rows.length, rows }
  }
}
