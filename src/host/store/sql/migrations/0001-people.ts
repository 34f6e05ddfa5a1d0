import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'
import type { Tables } from '../../../../store/sql/engine/schema.js'
import type { MigrationContext } from '../../../../store/sql/migrations/migration.js'
import { withPeople } from '../people-tables.js'

/** Rights, teams and admin tokens. Those of an account go with it, in the step that deletes it. */
export async function addPeople(db: Kysely<Tables>, context: MigrationContext): Promise<void> {
  await createProject(db, context)
  await createSetUp(context)
  await createRights(context)
  await createTeams(context)
  await createAdminTokens(context)
}

async function createProject(db: Kysely<Tables>, { createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_project')
    .addColumn('slot', 'smallint', (column) => column.primaryKey())
    .addColumn('epoch', 'bigint', notNull)
    .execute()
  const host = withPeople(db)
  const present = await host.selectFrom('latchkey_project').select('slot').executeTakeFirst()
  if (!present) await host.insertInto('latchkey_project').values({ slot: 1, epoch: 0 }).execute()
}

async function createSetUp({ createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_set_up')
    .addColumn('slot', 'smallint', (column) => column.primaryKey())
    .addColumn('at', 'bigint', notNull)
    .execute()
}

async function createRights({ createTable }: MigrationContext): Promise<void> {
  await createTable('latchkey_rights')
    .addColumn('user_id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('granted', 'varchar(16)', notNull)
    .$call((table) => ofUser(table, 'latchkey_rights_user', 'user_id'))
    .execute()
}

async function createTeams({ createTable, createIndex }: MigrationContext): Promise<void> {
  await createTable('latchkey_teams')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('name', 'varchar(100)', notNull)
    .addColumn('granted', 'varchar(16)', notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addUniqueConstraint('latchkey_teams_unique_name', ['name'])
    .execute()
  await createTable('latchkey_team_members')
    .addColumn('team_id', 'varchar(64)', notNull)
    .addColumn('user_id', 'varchar(64)', notNull)
    .addColumn('added_at', 'bigint', notNull)
    .addPrimaryKeyConstraint('latchkey_team_members_key', ['team_id', 'user_id'])
    .$call((table) => ofTeam(table, 'latchkey_team_members_team', 'team_id'))
    .$call((table) => ofUser(table, 'latchkey_team_members_user', 'user_id'))
    .execute()
  await createIndex('latchkey_team_members', ['user_id'])
}

/** `made_by` is no foreign key: a team's token outlives the account of its maker. */
async function createAdminTokens({ createTable, createIndex, longText }: MigrationContext): Promise<void> {
  await createTable('latchkey_admin_tokens')
    .addColumn('id', 'varchar(64)', (column) => column.primaryKey())
    .addColumn('token_hash', 'varchar(128)', notNull)
    .addColumn('name', 'text', notNull)
    .addColumn('owner_user_id', 'varchar(64)')
    .addColumn('owner_team_id', 'varchar(64)')
    .addColumn('made_by', 'varchar(64)', notNull)
    .addColumn('spaces', longText)
    .addColumn('commands', 'text')
    .addColumn('cidrs', longText, notNull)
    .addColumn('created_at', 'bigint', notNull)
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_day', 'bigint')
    .addColumn('last_used_network', 'varchar(64)')
    .$call((table) => ofUser(table, 'latchkey_admin_tokens_user', 'owner_user_id'))
    .$call((table) => ofTeam(table, 'latchkey_admin_tokens_team', 'owner_team_id'))
    .execute()
  await createIndex('latchkey_admin_tokens', ['owner_user_id'])
  await createIndex('latchkey_admin_tokens', ['owner_team_id'])
  await createIndex('latchkey_admin_tokens', ['made_by'])
}

function ofUser<Table extends string, Column extends string>(
  table: CreateTableBuilder<Table, Column>,
  name: string,
  column: Column,
): CreateTableBuilder<Table, Column> {
  return table.addForeignKeyConstraint(name, [column], 'latchkey_users', ['id'], (key) => key.onDelete('cascade'))
}

function ofTeam<Table extends string, Column extends string>(
  table: CreateTableBuilder<Table, Column>,
  name: string,
  column: Column,
): CreateTableBuilder<Table, Column> {
  return table.addForeignKeyConstraint(name, [column], 'latchkey_teams', ['id'], (key) => key.onDelete('cascade'))
}

function notNull(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull()
}
