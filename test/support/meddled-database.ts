import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'

/** A real SQLite database in memory in which another process writes between two statements of ours. */
export interface MeddledDatabase {
  dialect: SqliteDialect
  /** The next statement that the pattern names is followed by these, once. */
  after(pattern: RegExp, statements: string): void
}

export function meddledDatabase(): MeddledDatabase {
  const database = new Database(':memory:')
  let waiting: { pattern: RegExp; statements: string } | null = null

  function meddle(sql: string): void {
    if (!waiting?.pattern.test(sql)) return
    const { statements } = waiting
    waiting = null
    database.exec(statements)
  }

  const wrapped = {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.prepare(sql)
      return {
        reader: statement.reader,
        all(parameters: readonly unknown[]) {
          const rows = statement.all(parameters)
          meddle(sql)
          return rows
        },
        run(parameters: readonly unknown[]) {
          const result = statement.run(parameters)
          meddle(sql)
          return result
        },
        iterate: (parameters: readonly unknown[]) => statement.iterate(parameters),
      }
    },
  }
  return {
    dialect: new SqliteDialect({ database: wrapped }),
    after(pattern, statements) {
      waiting = { pattern, statements }
    },
  }
}
