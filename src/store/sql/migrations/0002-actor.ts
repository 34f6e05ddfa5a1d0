import type { Kysely } from 'kysely'
import type { Tables } from '../engine/schema.js'
import type { MigrationContext } from './migration.js'

/**
 * The actor of each audit event. Both columns may be null: older databases have rows without an actor, and processes of an
 * older release still insert such rows.
 *
 * `actor_id` is as long as every id, since MySQL has no index on a whole `text`.
 */
export async function addActor(_db: Kysely<Tables>, { addColumn, createIndex }: MigrationContext): Promise<void> {
  await addColumn('latchkey_audit', 'actor', 'text')
  await addColumn('latchkey_audit', 'actor_id', 'varchar(64)')
  await createIndex('latchkey_audit', ['actor_id', 'seq'])
}
