import type { MigrationContext } from './migration.js'

/** The allow-list's entries of run time, each once. */
export async function createAccessEntries({ createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_access_entries')
    .addColumn('network', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
}
