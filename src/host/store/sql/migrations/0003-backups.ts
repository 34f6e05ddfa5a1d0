import type { Kysely } from 'kysely'
import type { Tables } from '../../../../store/sql/engine/schema.js'

/** The generations of a space's data, its backups, and which API tokens no backup brings back. */
export async function addBackups({ schema }: Kysely<Tables>): Promise<void> {
  const spaces = () => schema.alterTable('latchkey_spaces')
  // A space has had one generation until now.
  await spaces()
    .addColumn('last_generation', 'integer', (column) => column.notNull().defaultTo(1))
    .execute()
  await spaces().addColumn('former_generation', 'integer').execute()
  await spaces()
    .addColumn('former_until_ms', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await schema
    .createTable('latchkey_backups')
    .ifNotExists()
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('space_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('sha256', 'varchar(64)', (column) => column.notNull())
    .addColumn('made_by', 'text')
    .execute()
  await schema
    .createIndex('latchkey_backups_space_id_at')
    .ifNotExists()
    .on('latchkey_backups')
    .columns(['space_id', 'at'])
    .execute()
  await schema
    .createTable('latchkey_removed_tokens')
    .ifNotExists()
    .addColumn('space_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('id', 'varchar(64)', (column) => column.notNull())
    .addPrimaryKeyConstraint('latchkey_removed_tokens_pk', ['space_id', 'id'])
    .execute()
}
