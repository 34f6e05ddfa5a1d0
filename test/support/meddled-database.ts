import type { SqliteDialect } from 'kysely'
import { watchedDatabase } from './watched-database.js'

/** A real SQLite database in memory in which another process writes between two statements of ours. */
export interface MeddledDatabase {
  dialect: SqliteDialect
  /** The next statement that the pattern names is followed by these, once. */
  after(pattern: RegExp, statements: string): void
}

export function meddledDatabase(): MeddledDatabase {
  let waiting: { pattern: RegExp; statements: string } | null = null
  const { database, dialect } = watchedDatabase({
    after(sql) {
      if (!waiting?.pattern.test(sql)) return
      const { statements } = waiting
      waiting = null
      database.exec(statements)
    },
  })
  return {
    dialect,
    after(pattern, statements) {
      waiting = { pattern, statements }
    },
  }
}
