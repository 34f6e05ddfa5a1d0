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
      await index.execute().catch((error: unknown) => {
        if (!isDuplicateIndex(error)) throw error
      })
    },
  }
}

function isDuplicateIndex(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ER_DUP_KEYNAME'
}
