import type { Kysely, Migration, MigrationProvider } from 'kysely'
import type { AuditSeal } from '../../audit/chain.js'
import type { Flavour } from '../engine/flavour.js'
import type { Tables } from '../engine/schema.js'
import { createMigrationContext, type MigrationSteps } from './migration.js'

export interface MigrateOptions {
  db: Kysely<Tables>
  /** What to run, by name. */
  migrations: MigrationSteps
  /** Where the names of those that ran stand. */
  table: string
  flavour: Flavour
  /** Where steps have limits of time that a migration, or the wait for that of another process, may exceed. */
  openPatient: (() => Promise<Kysely<Tables>>) | null
  randomId(): string
  seal: AuditSeal
}

/**
 * Brings the tables up to date. Of many processes that start at once, one migrates and the others wait.
 *
 * @throws the driver's error, such as SQLITE_BUSY while another process migrates
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { db, flavour } = options
  if (await isUpToDate(options)) return
  if (options.openPatient) return runPatiently(options.openPatient, options)
  if (flavour.name !== 'sqlite') return run(db, options)

  // Kysely takes no lock on SQLite, because its dialect knows one connection only. But DDL is transactional there, and an
  // immediate transaction excludes other processes until all of it is committed or rolled back.
  await db.connection().execute(async (connection) => {
    const { CompiledQuery } = await import('kysely')
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
    try {
      await run(connection, options)
      await connection.executeQuery(CompiledQuery.raw('commit'))
    } catch (error) {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
      throw error
    }
  })
}

async function runPatiently(open: () => Promise<Kysely<Tables>>, options: MigrateOptions): Promise<void> {
  const db = await open()
  try {
    await run(db, options)
  } finally {
    await db.destroy()
  }
}

/** Only reads. A process of an older release finds its own migrations and keeps running beside the newer one. */
async function isUpToDate(options: MigrateOptions): Promise<boolean> {
  const migrator = await createMigrator(options.db, options)
  const known = await migrator.getMigrations()
  return known.every(({ executedAt }) => executedAt !== undefined)
}

async function run(db: Kysely<Tables>, options: MigrateOptions): Promise<void> {
  const migrator = await createMigrator(db, options)
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}

async function createMigrator(db: Kysely<Tables>, { flavour, randomId, seal, migrations, table }: MigrateOptions) {
  const { Migrator } = await import('kysely')
  const provider: MigrationProvider = {
    async getMigrations() {
      const bound = Object.entries(migrations).map(([name, up]): [string, Migration] => [
        name,
        { up: (on) => up(on, createMigrationContext(on, { flavour, randomId, seal })) },
      ])
      return Object.fromEntries(bound)
    },
  }
  return new Migrator({
    db,
    provider,
    migrationTableName: table,
    migrationLockTableName: `${table}_lock`,
  })
}
