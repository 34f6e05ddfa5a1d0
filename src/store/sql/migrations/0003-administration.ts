import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import type { MigrationContext } from './migration.js'

/**
 * What administering accounts needs. Every column may be null, since processes of earlier releases go on inserting rows
 * beside this one.
 *
 * `verified_by` stays null for the addresses that were verified before: nothing says what proved them.
 */
export async function addAdministration(
  _db: Kysely<Tables>,
  { addColumn, createIndex, createTable }: MigrationContext,
): Promise<void> {
  await addColumn('latchkey_users', 'verified_by', 'varchar(32)')
  await addColumn('latchkey_users', 'must_reset', 'smallint')
  await addColumn('latchkey_users', 'disabled_reason', 'text')
  await addColumn('latchkey_sessions', 'actor_user_id', 'varchar(64)')
  await addColumn('latchkey_sessions', 'actor_session_id', 'varchar(64)')
  await createIndex('latchkey_sessions', ['actor_user_id', 'actor_session_id'])
  await createIndex('latchkey_sessions', ['created_at', 'id'])
  await createIndex('latchkey_audit', ['at_ms', 'seq'])
  await createTable('latchkey_key_ids')
    .addColumn('kid', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('first_used_at', 'bigint', (column) => column.notNull())
    .execute()
}
