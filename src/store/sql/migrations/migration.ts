import type { CreateTableBuilder, Kysely } from 'kysely'
import type { AuditSeal } from '../../audit-chain.js'
import type { Flavour } from '../engine/flavour.js'
import type { Tables } from '../engine/schema.js'

/** What a migration works with besides the database. */
export interface MigrationContext {
  longText: Flavour['longText']
  randomId(): string
  seal: AuditSeal
  /** CREATE TABLE IF NOT EXISTS, with what this database wants at its end. */
  createTable<Table extends keyof Tables & string>(name: Table): CreateTableBuilder<Table>
  /** A further column of a table, unless it exists. Null in the rows that are there. */
  addColumn(table: keyof Tables & string, name: string, type: 'text' | `varchar(${number})`): Promise<void>
  /** An index named after its table and columns, unless it exists. */
  createIndex(table: keyof Tables & string, columns: readonly string[]): Promise<void>
}

export function createMigrationContext(
  db: Kysely<Tables>,
  { flavour, ...world }: Pick<MigrationContext, 'randomId' | 'seal'> & { flavour: Flavour },
): MigrationContext {
  return {
    ...world,
    longText: flavour.longText,
    createTable: (name) => db.schema.createTable(name).ifNotExists().modifyEnd(flavour.tableEnd),

    async addColumn(table, name, type) {
      const column = db.schema.alterTable(table).addColumn(name, type)
      // Only MySQL keeps a column of a migration that was cut off, and it has no IF NOT EXISTS here.
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

async function ignoreCode(code: string, running: Promise<void>): Promise<void> {
  try {
    await running
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error
  }
}
