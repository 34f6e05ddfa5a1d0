import type { SqliteDialect } from 'kysely'
import { watchedDatabase } from './watched-database.js'

/** A real SQLite database in memory whose statements fail when the test says so. */
export interface FailingDatabase {
  dialect: SqliteDialect
  /** Statements that ran since the last `failAfter`. */
  readonly ran: number
  /** The first word of each of them, in order: what kind of statement it was. */
  readonly kinds: readonly string[]
  /** Those of them that wrote, and not in vain. */
  readonly wrote: number
  /** Lets that many statements through; every later one fails, but what undoes a transaction. Infinity: none fails. */
  failAfter(statements: number): void
  /** From now on those fail that name one of this; null: none. */
  failOn(pattern: RegExp | null): void
}

const undo = /^\s*rollback/i

export function failingDatabase(): FailingDatabase {
  let left = Number.POSITIVE_INFINITY
  let ran = 0
  let kinds: string[] = []
  let wrote = 0
  let broken: RegExp | null = null

  function spend(sql: string): void {
    if (undo.test(sql)) return
    if (left <= 0 || broken?.test(sql)) throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' })
    left -= 1
    ran += 1
    kinds.push(/\w+/.exec(sql)?.[0].toLowerCase() ?? '')
  }

  const { dialect } = watchedDatabase({
    before: spend,
    after(_sql, changes) {
      if (changes > 0) wrote += 1
    },
  })
  return {
    failOn(pattern) {
      broken = pattern
    },
    dialect,
    get ran() {
      return ran
    },
    get kinds() {
      return kinds
    },
    get wrote() {
      return wrote
    },
    failAfter(statements) {
      left = statements
      ran = 0
      kinds = []
      wrote = 0
    },
  }
}
