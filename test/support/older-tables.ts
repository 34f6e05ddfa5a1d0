import { Migrator } from 'kysely'
import { connect, type SqlDatabase } from '../../src/store/sql/engine/connect.js'
import { migrations } from '../../src/store/sql/migrations/list.js'
import { createMigrationContext } from '../../src/store/sql/migrations/migration.js'
import { randomId, testSeal } from './databases.js'

/** Makes the tables of an earlier release: those up to and with that migration. */
export async function makeOlderTables(database: SqlDatabase, last: string): Promise<void> {
  const { db, flavour } = await connect(database, () => 1_700_000_000_000)
  const names = Object.keys(migrations).filter((name) => name <= last)
  const older = names.map((name) => {
    const up = (on: typeof db) =>
      migrations[name]?.(on, createMigrationContext(on, { flavour, randomId, seal: testSeal() })) ?? Promise.resolve()
    return [name, { up }] as const
  })
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => Object.fromEntries(older) },
    migrationTableName: 'latchkey_migrations',
    migrationLockTableName: 'latchkey_migrations_lock',
  })
  const { error } = await migrator.migrateToLatest()
  await db.destroy()
  if (error) throw error
}
