import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import { addScopeToAccessEntries } from './access-entries.js'
import type { MigrationContext } from './migration.js'

/**
 * API tokens and access settings belong to a scope: '' for the application, otherwise a space. Existing rows, and those that
 * processes of earlier releases insert beside this one, have the scope ''.
 *
 * The digest of a token stays unique over all scopes, so that its index still finds the one row.
 */
export async function addScopes(db: Kysely<Tables>, context: MigrationContext): Promise<void> {
  const { addColumn, createIndex, createTable } = context
  await addColumn('latchkey_api_tokens', 'scope', 'varchar(64)', '')
  await createIndex('latchkey_api_tokens', ['scope', 'created_at', 'id'])
  await addScopeToAccessEntries(db, context)
  await createTable('latchkey_key_sets')
    .addColumn('scope', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('issuer', 'text')
    .addColumn('audience', 'text')
    .addColumn('algorithms', 'text')
    .addColumn('exclusive', 'smallint')
    .execute()
}
