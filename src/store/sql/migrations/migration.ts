import type { CreateTableBuilder, Kysely } from 'kysely'
import type { AuditSeal } from '../../audit/chain.js'
import type { Flavour } from '../engine/flavour.js'
import type { Tables } from '../engine/schema.js'

type ColumnType = 'text' | 'smallint' | `varchar(${number})`

/** Migrations by name, which run in the order of their names. */
export type MigrationSteps = Readonly<Record<string, (db: Kysely<Tables>, context: MigrationContext) => Promise<void>>>

/** The migrations of one set of tables. */
export interface MigrationSet {
  migrations: MigrationSteps
  /** Where the names of those that ran stand. */
  migrationsTable: string
}

/** The tools of a migration besides the database. */
export interface MigrationContext {
  flavour: Flavour['name']
  longText: Flavour['longText']
  randomId(): string
  seal: AuditSeal
  /** CREATE TABLE IF NOT EXISTS, with the options that this database needs at the end. */
  createTable<Table extends string>(name: Table): CreateTableBuilder<Table>
  /** Adds a column, unless it exists. Existing rows, and those that earlier releases insert, have `filled` in it, or null. */
  addColumn(table: keyof Tables & string, name: string, type: ColumnType, filled?: string): Promise<void>
  /** Creates an index, named after its table and columns, unless it exists. */
  createIndex(table: string, columns: readonly string[]): Promise<void>
}

export function createMigrationContext(
  db: Kysely<Tables>,
  { flavour, ...world }: Pick<MigrationContext, 'randomId' | 'seal'> & { flavour: Flavour },
): MigrationContext {
  return {
    ...world,
    flavour: flavour.name,
    longText: flavour.longText,
    createTable: (name) => db.schema.createTable(name).ifNotExists().modifyEnd(flavour.tableEnd),

    async addColumn(table, name, type, filled) {
      const column = db.schema
        .alterTable(table)
        .addColumn(name, type, (each) => (filled === undefined ? each : each.notNull().defaultTo(filled)))
      // Only MySQL keeps a column of an interrupted migration, and it has no IF NOT EXISTS here.
      if (flavour.name === 'mysql') await ignoreCode('ER_DUP_FIELDNAME', column.execute())
      else await column.execute()
    },

    async createIndex(table, columns) {
      const index = db.schema
        .createIndex(`${table}_${columns.join('_')}`)
        .on(table)
        .columns([...columns])
      if (flavour.name !== 'mysql') {
        await index.ifNotExists().execute()
        return
      }
      // MySQL has no IF NOT EXISTS here.
      await ignoreCode('ER_DUP_KEYNAME', index.execute())
    },
  }
}

/** What an interrupted migration has left on MySQL, which has no transactions here. */
export async function ignoreCode(code: string, running: Promise<unknown>): Promise<void> {
  try {
    await running
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error
  }
}
