import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'

/** A real SQLite database in memory whose statements fail when the test says so. */
export interface FailingDatabase {
  dialect: SqliteDialect
  /** Statements that ran since the last `failAfter`. */
  readonly ran: number
  /** Those of them that wrote, and not in vain. */
  readonly wrote: number
  /** Lets that many statements through; every later one fails, but what undoes a transaction. Infinity: none fails. */
  failAfter(statements: number): void
  /** From now on those fail that name one of this; null: none. */
  failOn(pattern: RegExp | null): void
}

const undo = /^\s*rollback/i

export function failingDatabase(): FailingDatabase {
  const database = new Database(':memory:')
  let left = Number.POSITIVE_INFINITY
  let ran = 0
  let wrote = 0
  let broken: RegExp | null = null

  function spend(sql: string): void {
    if (undo.test(sql)) return
    if (left <= 0 || broken?.test(sql)) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })
    left -= 1
    ran += 1
  }

  const wrapped = {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.prepare(sql)
      return {
        reader: statement.reader,
        all(parameters: readonly unknown[]) {
          spend(sql)
          return statement.all(parameters)
        },
        run(parameters: readonly unknown[]) {
          spend(sql)
          const result = statement.run(parameters)
          if (result.changes > 0) wrote += 1
          return result
        },
        iterate(parameters: readonly unknown[]) {
          spend(sql)
          return statement.iterate(parameters)
        },
      }
    },
  }
  return {
    failOn(pattern) {
      broken = pattern
    },
    dialect: new SqliteDialect({ database: wrapped }),
    get ran() {
      return ran
    },
    get wrote() {
      return wrote
    },
    failAfter(statements) {
      left = statements
      ran = 0
      wrote = 0
    },
  }
}
