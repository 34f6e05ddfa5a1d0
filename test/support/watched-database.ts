import Database from 'better-sqlite3'
import { SqliteDialect } from 'kysely'

/** What a test does around each statement; `changes` is how many rows it wrote. */
export interface Watch {
  before?(sql: string): void
  after?(sql: string, changes: number): void
}

/** A real SQLite database in memory, and a dialect that tells of each statement. */
export function watchedDatabase({ before, after }: Watch): { database: Database.Database; dialect: SqliteDialect } {
  const database = new Database(':memory:')
  const wrapped = {
    close: () => database.close(),
    prepare(sql: string) {
      const statement = database.prepare(sql)
      return {
        reader: statement.reader,
        all(parameters: readonly unknown[]) {
          before?.(sql)
          const rows = statement.all(parameters)
          after?.(sql, 0)
          return rows
        },
        run(parameters: readonly unknown[]) {
          before?.(sql)
          const result = statement.run(parameters)
          after?.(sql, result.changes)
          return result
        },
        iterate(parameters: readonly unknown[]) {
          before?.(sql)
          return statement.iterate(parameters)
        },
      }
    },
  }
  return { database, dialect: new SqliteDialect({ database: wrapped }) }
}
