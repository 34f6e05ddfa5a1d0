import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'
import { markedText } from '../../audit/chain.js'
import type { Tables } from '../engine/schema.js'
import { createAccessEntries } from './access-entries.js'
import type { MigrationContext } from './migration.js'

/**
 * The first tables. All have `ifNotExists`: MySQL commits each of these statements separately, so an interrupted migration
 * finds its own tables when it runs again.
 *
 * Ids are 22 characters, digests `<key id>.<43 characters>`; an address has at most 320. The widest key below, purpose
 * and subject in utf8mb4, is (32 + 320) × 4 = 1,408 bytes; InnoDB allows 3,072.
 */
export async function first(db: Kysely<Tables>, context: MigrationContext): Promise<void> {
  await createInstallation(db, context)
  await createUsers(db, context)
  await createIdentities(db, context)
  await createSessions(db, context)
  await createOneTimeTokens(db, context)
  await createDevices(db, context)
  await createBackupCodes(db, context)
  await createApiTokens(db, context)
  await createCounters(db, context)
  await createOutbox(db, context)
  await createAudit(db, context)
  await createAuditHead(db, context)
  await createChanges(db, context)
  await createAccessEntries(context)
}

/** The installation's id is the `aud` of every token. The first process makes it; later ones keep it. */
async function createInstallation(db: Kysely<Tables>, context: MigrationContext): Promise<void> {
  await context
    .createTable('latchkey_installation')
    .addColumn('slot', 'smallint', (column) => column.primaryKey())
    .addColumn('id', 'varchar(64)', notNull)
    .addColumn('hash_name', 'varchar(128)')
    .addColumn('hash_ms', 'bigint', notNull)
    .addColumn('jwks_url', 'text')
    .execute()
  const present = await db.selectFrom('latchkey_installation').select('id').executeTakeFirst()
  if (present) return
  await db
    .insertInto('latchkey_installation')
    .values({ slot: 1, id: context.randomId(), hash_name: null, hash_ms: 0, jwks_url: null })
    .execute()
}

async function createUsers(
  _db: Kysely<Tables>,
  { createTable, createIndex, longText }: MigrationContext,
): Promise<void> {
  await createTable('latchkey_users')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('email', 'varchar(320)', notNull)
    .addColumn('email_canonical', 'varchar(320)', notNull)
    .addColumn('email_verified', 'smallint', notNull)
    .addColumn('name', 'text')
    .addColumn('password_hash', 'text')
    .addColumn('roles', 'text', notNull)
    .addColumn('fields', longText, notNull)
    .addColumn('version', 'bigint', notNull)
    .addColumn('disabled_at', 'bigint')
    .addColumn('disabled_until', 'bigint')
    .addColumn('totp_secret', 'text')
    .addColumn('totp_step', 'bigint')
    .addColumn('totp_at', 'bigint')
    .addColumn('identities', 'text', notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('last_login_at', 'bigint')
    .addUniqueConstraint('latchkey_users_email', ['email_canonical'])
    .execute()
  await createIndex('latchkey_users', ['created_at', 'id'])
}

/** Subjects are compared byte by byte, like all texts; see `tableEnd` of the flavours. */
async function createIdentities(_db: Kysely<Tables>, { createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_identities')
    .addColumn('provider', 'varchar(64)', notNull)
    .addColumn('subject', 'varchar(255)', notNull)
    .addColumn('user_id', 'varchar(64)', notNull)
    .addColumn('linked_at', 'bigint', notNull)
    .addPrimaryKeyConstraint('latchkey_identities_key', ['provider', 'subject'])
    .addUniqueConstraint('latchkey_identities_user_provider', ['user_id', 'provider'])
    .addForeignKeyConstraint('latchkey_identities_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
}

async function createSessions(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_sessions')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .$call(withOrdinal)
    .addColumn('user_id', 'varchar(64)', notNull)
    .addColumn('mode', 'varchar(16)', notNull)
    .addColumn('counter', 'bigint', notNull)
    .addColumn('proven_at_ms', 'bigint')
    .addColumn('refresh_issued_at', 'bigint', notNull)
    .addColumn('refresh_expires_at', 'bigint', notNull)
    .addColumn('amr', 'text', notNull)
    .addColumn('auth_time', 'bigint', notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint', notNull)
    .addColumn('last_seen_at', 'bigint', notNull)
    .addColumn('ip', 'varchar(64)')
    .addColumn('user_agent', 'text')
    .addForeignKeyConstraint('latchkey_sessions_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
  await createIndex('latchkey_sessions', ['user_id', 'created_at'])
  await createIndex('latchkey_sessions', ['refresh_expires_at'])
}

async function createOneTimeTokens(
  _db: Kysely<Tables>,
  { createTable, createIndex, longText }: MigrationContext,
): Promise<void> {
  await createTable('latchkey_one_time_tokens')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .$call(withOrdinal)
    .addColumn('purpose', 'varchar(32)', notNull)
    .addColumn('subject', 'varchar(320)', notNull)
    .addColumn('user_id', 'varchar(64)')
    .addColumn('email', 'varchar(320)', notNull)
    .addColumn('token_hash', 'varchar(128)', notNull)
    .addColumn('code_hash', 'varchar(128)')
    .addColumn('handle_hash', 'varchar(128)')
    .addColumn('payload', longText)
    .addColumn('tries', 'bigint', notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint', notNull)
    .addForeignKeyConstraint('latchkey_one_time_tokens_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
  await createIndex('latchkey_one_time_tokens', ['purpose', 'subject'])
  await createIndex('latchkey_one_time_tokens', ['purpose', 'email'])
  await createIndex('latchkey_one_time_tokens', ['purpose', 'token_hash'])
  await createIndex('latchkey_one_time_tokens', ['purpose', 'handle_hash'])
  await createIndex('latchkey_one_time_tokens', ['user_id'])
  await createIndex('latchkey_one_time_tokens', ['expires_at'])
}

async function createDevices(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_devices')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .$call(withOrdinal)
    .addColumn('user_id', 'varchar(64)', notNull)
    .addColumn('token_hash', 'varchar(128)', notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint', notNull)
    .addForeignKeyConstraint('latchkey_devices_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
  await createIndex('latchkey_devices', ['token_hash'])
  await createIndex('latchkey_devices', ['user_id'])
  await createIndex('latchkey_devices', ['expires_at'])
}

async function createBackupCodes(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_backup_codes')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('user_id', 'varchar(64)', notNull)
    .addColumn('code_hash', 'varchar(128)', notNull)
    .addForeignKeyConstraint('latchkey_backup_codes_user', ['user_id'], 'latchkey_users', ['id'], (key) =>
      key.onDelete('cascade'),
    )
    .execute()
  await createIndex('latchkey_backup_codes', ['user_id'])
}

/** `replaced_by` is no foreign key, because a successor may be removed before its token. */
async function createApiTokens(
  _db: Kysely<Tables>,
  { createTable, createIndex, longText }: MigrationContext,
): Promise<void> {
  await createTable('latchkey_api_tokens')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('token_hash', 'varchar(128)', notNull)
    .addColumn('name', 'text', notNull)
    .addColumn('access', 'varchar(16)', notNull)
    .addColumn('cidrs', longText, notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addColumn('replaced_by', 'varchar(64)')
    .addUniqueConstraint('latchkey_api_tokens_hash', ['token_hash'])
    .execute()
  await createIndex('latchkey_api_tokens', ['created_at', 'id'])
  await createIndex('latchkey_api_tokens', ['expires_at'])
}

async function createCounters(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_counters')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('hits', 'bigint', notNull)
    .addColumn('ends_at', 'bigint', notNull)
    .addColumn('long_hits', 'bigint', notNull)
    .addColumn('long_ends_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint', notNull)
    .execute()
  await createIndex('latchkey_counters', ['expires_at'])
}

async function createOutbox(
  _db: Kysely<Tables>,
  { createTable, createIndex, longText }: MigrationContext,
): Promise<void> {
  await createTable('latchkey_outbox')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .$call(withOrdinal)
    .addColumn('recipient', 'varchar(320)', notNull)
    .addColumn('template', 'varchar(64)', notNull)
    .addColumn('sealed_values', longText, notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('attempts', 'bigint', notNull)
    .addColumn('next_attempt_at', 'bigint', notNull)
    .addColumn('lease_id', 'varchar(64)')
    .addColumn('lease_until', 'bigint')
    .addColumn('set_aside', 'smallint', notNull)
    .addColumn('last_reason', 'varchar(64)')
    .execute()
  await createIndex('latchkey_outbox', ['set_aside', 'next_attempt_at'])
}

/** No foreign keys: audit events outlive their user. */
async function createAudit(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_audit')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('seq', 'bigint', notNull)
    .addColumn('at_ms', 'bigint', notNull)
    .addColumn('event', 'varchar(64)', notNull)
    .addColumn('outcome', 'varchar(16)', notNull)
    .addColumn('user_id', 'varchar(64)')
    .addColumn('session_id', 'varchar(64)')
    .addColumn('ip', 'varchar(64)')
    .addColumn('user_agent', 'text')
    .addColumn('detail', 'text', notNull)
    .addColumn('hash', 'varchar(64)', notNull)
    .addColumn('mac', 'varchar(128)', notNull)
    .addUniqueConstraint('latchkey_audit_number', ['seq'])
    .execute()
  await createIndex('latchkey_audit', ['user_id', 'seq'])
  await createIndex('latchkey_audit', ['event', 'seq'])
}

/** The chain begins with a random value, so that the chain of another installation does not fit. Its mark prevents a restart. */
async function createAuditHead(db: Kysely<Tables>, { createTable, randomId, seal }: MigrationContext): Promise<void> {
  await createTable('latchkey_audit_head')
    .addColumn('slot', 'smallint', (column) => column.primaryKey())
    .addColumn('seq', 'bigint', notNull)
    .addColumn('hash', 'varchar(64)', notNull)
    .addColumn('mac', 'varchar(128)', notNull)
    .addColumn('floor_seq', 'bigint', notNull)
    .addColumn('floor_hash', 'varchar(64)', notNull)
    .addColumn('floor_mac', 'varchar(128)', notNull)
    .execute()
  const present = await db.selectFrom('latchkey_audit_head').select('slot').executeTakeFirst()
  if (present) return
  const start = { seq: 0, hash: randomId() }
  await db
    .insertInto('latchkey_audit_head')
    .values({
      slot: 1,
      ...start,
      mac: seal.sealAudit(markedText('head', start)),
      floor_seq: start.seq,
      floor_hash: start.hash,
      floor_mac: seal.sealAudit(markedText('floor', start)),
    })
    .execute()
}

async function createChanges(_db: Kysely<Tables>, { createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_changes')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('at_ms', 'bigint', notNull)
    .addColumn('kind', 'varchar(16)', notNull)
    .addColumn('subject', 'varchar(64)', notNull)
    .addColumn('version', 'bigint')
    .addColumn('matters_until', 'bigint', notNull)
    .execute()
  await createIndex('latchkey_changes', ['at_ms'])
  await createIndex('latchkey_changes', ['matters_until'])
}

function notNull(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull()
}

function withOrdinal<Table extends string, Column extends string>(
  table: CreateTableBuilder<Table, Column>,
): CreateTableBuilder<Table, Column | 'ordinal'> {
  return table.addColumn('ordinal', 'bigint', notNull)
}
