import type { CompiledQuery, Dialect, Kysely, RawBuilder, Sql, Transaction } from 'kysely'
import { hasMethods } from '../../../lib/members.js'
import { type Batches, postgresBatches } from './batches.js'
import type { Tables } from './schema.js'

/** What differs between the databases; everything else is written once. */
export interface Flavour {
  name: 'sqlite' | 'postgres' | 'mysql'
  /** The template tag of Kysely, which is loaded late. */
  sql: Sql
  /** Reads of rows that were compiled before, by their shape. */
  selections: Map<string, CompiledQuery<Readonly<Record<string, string | number | null>>>>
  /**
   * Milliseconds of the store's clock plus `offset`, at the time the statement runs. All processes on this store share this
   * clock, and change rows and proofs are dated by it. SQLite runs on the machine of the process, so it uses the clock of
   * the process.
   */
  storeNowMs(offset?: number): RawBuilder<number>
  /** The same in seconds, rounded down; `offsetMs` is in milliseconds. */
  storeNowSeconds(offsetMs: number): RawBuilder<number>
  /** The text before the first dot of a column: the key id of a digest or sealed text. */
  beforeDot(column: string): RawBuilder<string | null>
  /** Whether the column contains the text. ASCII letters match in either case, others at least in the same one. No wildcards. */
  contains(column: string, text: string): RawBuilder<boolean>
  /** Whether the column contains exactly that text. No wildcards. */
  holds(column: string, text: string): RawBuilder<boolean>
  /**
   * Whether a row comes after that place in a list that is ordered by these two columns, both descending. The bound on the
   * first column stands by itself, because no database uses an index for the `or` alone.
   */
  before(columns: readonly [string, string], place: readonly [number, number | string]): RawBuilder<boolean>
  /** Makes transactions with the same name wait for this one to end. For steps that no single row can decide. */
  serialise(transaction: Transaction<Tables>, name: string): Promise<void>
  /** Statements for many rows at once; null if the database gets one statement a row. */
  batches: Batches | null
  /** The type of a column for more than the 64 KiB of MySQL's `text`. */
  longText: 'text' | RawBuilder<unknown>
  /** What ends a CREATE TABLE. */
  tableEnd: RawBuilder<unknown>
}

export function createFlavour(name: Flavour['name'], sql: Sql, now: () => number): Flavour {
  if (name === 'sqlite') return sqlite(sql, now)
  return name === 'postgres' ? postgres(sql) : mysql(sql)
}

function sqlite(sql: Sql, now: () => number): Flavour {
  // Drivers bind a JavaScript number as a REAL; the cast makes it the integer that the columns hold.
  const integer = (value: number) => sql<number>`cast(${Math.floor(value)} as integer)`
  return {
    name: 'sqlite',
    sql,
    selections: new Map(),
    storeNowMs: (offset = 0) => integer(now() + offset),
    storeNowSeconds: (offsetMs) => integer((now() + offsetMs) / 1000),
    beforeDot: (column) => sql`substr(${sql.ref(column)}, 1, instr(${sql.ref(column)}, '.') - 1)`,
    contains: (column, text) => containsBy(sql, 'instr', column, text),
    holds: (column, text) => holdsBy(sql, 'instr', column, text),
    before: (columns, place) => beforeBy(sql, columns, place),
    // One writer at a time: the first write of a transaction makes the others wait.
    serialise: async () => {},
    batches: null,
    longText: 'text',
    tableEnd: sql``,
  }
}

function postgres(sql: Sql): Flavour {
  // clock_timestamp, because now() returns the start of the transaction.
  const clockMs = (offset: number) => sql`extract(epoch from clock_timestamp()) * 1000 + ${Math.floor(offset)}::bigint`
  return {
    name: 'postgres',
    sql,
    selections: new Map(),
    storeNowMs: (offset = 0) => sql<number>`floor(${clockMs(offset)})::bigint`,
    storeNowSeconds: (offsetMs) => sql<number>`floor((${clockMs(offsetMs)}) / 1000)::bigint`,
    beforeDot: (column) => sql`split_part(${sql.ref(column)}, '.', 1)`,
    contains: (column, text) => containsBy(sql, 'strpos', column, text),
    holds: (column, text) => holdsBy(sql, 'strpos', column, text),
    before: (columns, place) => beforeBy(sql, columns, place),
    async serialise(transaction, name) {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction)
    },
    batches: postgresBatches(sql),
    longText: 'text',
    tableEnd: sql``,
  }
}

function mysql(sql: Sql): Flavour {
  // sysdate(3), because now(3) returns the start of the statement, however long it waited for a lock.
  const clockMs = (offset: number) => sql`unix_timestamp(sysdate(3)) * 1000 + ${Math.floor(offset)}`
  return {
    name: 'mysql',
    sql,
    selections: new Map(),
    storeNowMs: (offset = 0) => sql<number>`cast(floor(${clockMs(offset)}) as signed)`,
    storeNowSeconds: (offsetMs) => sql<number>`cast(floor((${clockMs(offsetMs)}) / 1000) as signed)`,
    beforeDot: (column) => sql`substring_index(${sql.ref(column)}, '.', 1)`,
    contains: (column, text) => containsBy(sql, 'instr', column, text),
    holds: (column, text) => holdsBy(sql, 'instr', column, text),
    before: (columns, place) => beforeBy(sql, columns, place),
    // In MySQL, only row locks end with the transaction. So all names share one row that always exists.
    async serialise(transaction) {
      await transaction.selectFrom('latchkey_installation').select('slot').forUpdate().execute()
    },
    batches: null,
    longText: sql`mediumtext`,
    // The default collations of MySQL and MariaDB ignore case and accents: 'Ab' and 'aB' would be one id, and two
    // addresses one account. Binary collation for whole tables, so that no column can be forgotten.
    tableEnd: sql`character set utf8mb4 collate utf8mb4_bin`,
  }
}

/** `lower` of SQLite only converts ASCII letters, so the text is also searched unchanged. */
function containsBy(sql: Sql, position: 'instr' | 'strpos', column: string, text: string): RawBuilder<boolean> {
  const [find, where] = [sql.raw(position), sql.ref(column)]
  return sql<boolean>`(${find}(lower(${where}), ${text.toLowerCase()}) > 0 or ${find}(${where}, ${text}) > 0)`
}

function holdsBy(sql: Sql, position: 'instr' | 'strpos', column: string, text: string): RawBuilder<boolean> {
  return sql<boolean>`${sql.raw(position)}(${sql.ref(column)}, ${text}) > 0`
}

function beforeBy(
  sql: Sql,
  [first, second]: readonly [string, string],
  [value, next]: readonly [number, number | string],
): RawBuilder<boolean> {
  const [one, two] = [sql.ref(first), sql.ref(second)]
  return sql<boolean>`(${one} <= ${value} and (${one} < ${value} or ${two} < ${next}))`
}

/**
 * Finds out which SQL the application's dialect produces, by the quotes and placeholders of a compiled query. Class names are
 * no help: minifiers change them, and third parties have dialects of their own.
 *
 * @throws {Error} if the dialect is not SQLite, PostgreSQL or MySQL
 */
export function flavourNameOf(db: Kysely<Tables>): Flavour['name'] {
  const { sql } = db.selectFrom('latchkey_installation').select('id').where('slot', '=', 1).compile()
  if (sql.includes('`') && sql.includes('?')) return 'mysql'
  if (sql.includes('"') && sql.includes('$1')) return 'postgres'
  if (sql.includes('"') && sql.includes('?')) return 'sqlite'
  throw new Error('database: the dialect must speak the SQL of SQLite, PostgreSQL, MySQL or MariaDB.')
}

/** Whether the application gave a Kysely dialect: the four factories are the whole interface. */
export function isDialect(value: unknown): value is Dialect {
  const factories = ['createDriver', 'createAdapter', 'createQueryCompiler', 'createIntrospector']
  return typeof value === 'object' && hasMethods(value, factories)
}
