import type { Migrations } from '../model/migrations.js'
import type { MigrationSet } from '../store/sql/migrations/migration.js'
import { planMigrations } from '../store/sql/migrations/plan.js'
import type { Early } from './early.js'

/** What opening would do to the database, without opening it. A Datastore has no tables to migrate. */
export async function readMigrations(
  { settings, world }: Pick<Early, 'settings' | 'world'>,
  further: MigrationSet | null = null,
): Promise<Migrations> {
  const { database } = settings
  if (database.kind === 'datastore') return { applied: [], pending: [] }
  return planMigrations(database, world.now, further)
}
