import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import type { MigrationContext } from './migration.js'

/**
 * Passkeys. Both columns of users may be null, since processes of earlier releases go on inserting rows beside this one.
 *
 * The index is over a digest, because a credential's id may have more bytes than an index of MySQL.
 */
export async function addPasskeys(
  _db: Kysely<Tables>,
  { addColumn, createIndex, createTable }: MigrationContext,
): Promise<void> {
  await addColumn('latchkey_users', 'passkeys', 'text')
  await addColumn('latchkey_users', 'passkey_handle', 'varchar(64)')
  await createTable('latchkey_passkeys')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('user_id', 'varchar(64)', (column) => column.notNull())
    .addColumn('rp_id', 'varchar(255)', (column) => column.notNull())
    .addColumn('credential_hash', 'varchar(64)', (column) => column.notNull())
    .addColumn('credential_id', 'text', (column) => column.notNull())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('algorithm', 'bigint', (column) => column.notNull())
    .addColumn('sign_count', 'bigint', (column) => column.notNull())
    .addColumn('backup_eligible', 'smallint', (column) => column.notNull())
    .addColumn('backed_up', 'smallint', (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('aaguid', 'varchar(64)', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('user_handle', 'varchar(128)', (column) => column.notNull())
    .addColumn('suspended_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addUniqueConstraint('latchkey_passkeys_credential', ['rp_id', 'credential_hash'])
    .addForeignKeyConstraint('latchkey_passkeys_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
  await createIndex('latchkey_passkeys', ['user_id'])
}
