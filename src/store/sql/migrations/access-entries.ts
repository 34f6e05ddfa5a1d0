import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import { ignoreCode, type MigrationContext } from './migration.js'

/** The entries that were added to the allow-list at run time. */
export async function createAccessEntries({ createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_access_entries')
    .addColumn('network', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
}

/**
 * A network may be on the list of several scopes, so the scope becomes part of the primary key. Statements of earlier releases
 * mean what they did: the rows that they insert get the scope ''.
 */
export async function addScopeToAccessEntries(db: Kysely<Tables>, context: MigrationContext): Promise<void> {
  if (context.flavour === 'sqlite') return rebuildAccessEntries(db, context)
  const { sql } = await import('kysely')
  const table = sql.table('latchkey_access_entries')
  const dropKey =
    context.flavour === 'mysql'
      ? sql`drop primary key`
      : sql`drop constraint ${sql.ref('latchkey_access_entries_pkey')}`
  // One statement, which MySQL runs as a whole or not at all.
  const change = sql`alter table ${table} add column scope varchar(64) default '' not null, ${dropKey}, add primary key (scope, network)`
  const running = change.execute(db)
  if (context.flavour === 'mysql') await ignoreCode('ER_DUP_FIELDNAME', running)
  else await running
}

/** SQLite cannot change a primary key. */
async function rebuildAccessEntries(db: Kysely<Tables>, { createTable }: MigrationContext): Promise<void> {
  const { sql } = await import('kysely')
  const former = sql.table('latchkey_access_entries_former')
  await db.schema.alterTable('latchkey_access_entries').renameTo('latchkey_access_entries_former').execute()
  await createTable('latchkey_access_entries')
    .addColumn('scope', 'varchar(64)', (column) => column.notNull().defaultTo(''))
    .addColumn('network', 'varchar(64)', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('latchkey_access_entries_key', ['scope', 'network'])
    .execute()
  const table = sql.table('latchkey_access_entries')
  await sql`insert into ${table} (network, created_at) select network, created_at from ${former}`.execute(db)
  await sql`drop table ${former}`.execute(db)
}
