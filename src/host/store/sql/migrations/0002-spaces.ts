import type { Kysely } from 'kysely'
import type { Tables } from '../../../../store/sql/engine/schema.js'
import type { MigrationContext } from '../../../../store/sql/migrations/migration.js'

/** Spaces with their claims, releases and environment. */
export async function addSpaces({ schema }: Kysely<Tables>, { longText }: MigrationContext): Promise<void> {
  await schema
    .createTable('latchkey_spaces')
    .ifNotExists()
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('name', 'varchar(64)', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('current_release', 'integer')
    .addColumn('last_release', 'integer', (column) => column.notNull())
    .addColumn('generation', 'integer', (column) => column.notNull())
    .addColumn('data_key', 'text', (column) => column.notNull())
    .addColumn('claim_epoch', 'bigint', (column) => column.notNull())
    .addColumn('claim_kind', 'varchar(16)')
    .addColumn('claim_until_ms', 'bigint', (column) => column.notNull())
    .execute()
  await schema
    .createTable('latchkey_removed_spaces')
    .ifNotExists()
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .execute()
  await schema
    .createTable('latchkey_releases')
    .ifNotExists()
    .addColumn('space_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('sha256', 'varchar(64)', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('git_hash', 'varchar(64)')
    .addColumn('git_branch', 'text')
    .addColumn('dirty', 'smallint')
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('author', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('outcome', 'varchar(16)')
    .addColumn('fault', 'text')
    .addPrimaryKeyConstraint('latchkey_releases_pk', ['space_id', 'number'])
    .execute()
  await schema
    .createTable('latchkey_space_variables')
    .ifNotExists()
    .addColumn('space_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('name', 'varchar(64)', (column) => column.notNull())
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('sealed', longText, (column) => column.notNull())
    .addColumn('encrypted', 'smallint', (column) => column.notNull())
    .addColumn('set_at', 'bigint', (column) => column.notNull())
    .addColumn('set_by', 'text')
    .addPrimaryKeyConstraint('latchkey_space_variables_pk', ['space_id', 'name'])
    .execute()
}
