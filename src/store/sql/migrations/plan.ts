import { existsSync } from 'node:fs'
import type { Dialect, Kysely } from 'kysely'
import type { Migrations } from '../../../model/migrations.js'
import { connect, type SqlDatabase } from '../engine/connect.js'
import { createFlavour, type Flavour } from '../engine/flavour.js'
import type { Tables } from '../engine/schema.js'
import { openSqlite } from '../engine/sqlite-driver.js'
import { databasePath, explainFileError } from '../engine/sqlite-file.js'
import { migrations, migrationsTable } from './list.js'
import { createMigrationContext, type MigrationSet, type MigrationSteps } from './migration.js'

/**
 * The migrations that opening this database would run. It connects and only reads: a missing SQLite file is not created, and an
 * existing one is opened read-only.
 *
 * @param further those of an extension; null: none
 * @throws {Error} that explains a fault of the file, the driver or the dialect; any other error is the driver's own
 */
export async function planMigrations(
  database: SqlDatabase,
  now: () => number,
  further: MigrationSet | null = null,
): Promise<Migrations> {
  if (database.kind === 'sqlite') return planOnFile(databasePath(database.file), now, further)
  const { db, flavour, explain } = await connect(database, now)
  try {
    return await planOn(db, flavour, further)
  } catch (error) {
    throw explain(error)
  } finally {
    // The application still needs its dialect, and closing it would close its pool.
    if (database.kind !== 'dialect') await db.destroy()
  }
}

async function planOnFile(file: string, now: () => number, further: MigrationSet | null): Promise<Migrations> {
  const { Kysely, sql, SqliteDialect } = await import('kysely')
  const flavour = createFlavour('sqlite', sql, now)
  if (!existsSync(file)) return planOn(new Kysely<Tables>({ dialect: await nowhere() }), flavour, further)
  try {
    const database = await openSqlite(file, { readOnly: true })
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
    return await planOn(db, flavour, further).finally(() => db.destroy())
  } catch (error) {
    throw explainFileError(error, file)
  }
}

/** The same for a database that is already open. */
export async function planOn(
  db: Kysely<Tables>,
  flavour: Flavour,
  further: MigrationSet | null = null,
): Promise<Migrations> {
  const own = await planSet(db, flavour, { migrations, migrationsTable })
  if (further === null) return own
  const more = await planSet(db, flavour, further)
  return { applied: [...own.applied, ...more.applied], pending: [...own.pending, ...more.pending] }
}

async function planSet(
  db: Kysely<Tables>,
  flavour: Flavour,
  { migrations, migrationsTable }: MigrationSet,
): Promise<Migrations> {
  const done = await readDone(db, migrationsTable)
  const applied = done.map(({ name, timestamp }) => ({ name, at: timestamp, known: Object.hasOwn(migrations, name) }))
  const names = Object.keys(migrations).filter((name) => !done.some((row) => row.name === name))
  const pending: Migrations['pending'] = []
  for (const name of names) pending.push({ name, sql: await statementsOf(migrations[name], db, flavour) })
  return { applied, pending }
}

async function readDone(db: Kysely<Tables>, table: string): Promise<{ name: string; timestamp: string }[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === table)) return []
  const { sql } = await import('kysely')
  const query = sql<{ name: string; timestamp: string }>`select name, timestamp from ${sql.table(table)} order by name`
  return (await query.execute(db)).rows
}

/** Runs the step where every statement is compiled for this database and none is sent. */
async function statementsOf(
  step: MigrationSteps[string] | undefined,
  db: Kysely<Tables>,
  flavour: Flavour,
): Promise<string[]> {
  const { DummyDriver, Kysely } = await import('kysely')
  const executor = db.getExecutor()
  const statements: string[] = []
  const dry = new Kysely<Tables>({
    dialect: {
      createAdapter: () => executor.adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: () => db.introspection,
      createQueryCompiler: () => ({ compileQuery: (node, id) => executor.compileQuery(node, id) }),
    },
    log: ({ query }) => void statements.push(query.sql),
  })
  const idle = { randomId: () => '', seal: { sealAudit: () => '', checkAudit: () => 'bad' as const } }
  await step?.(dry, createMigrationContext(dry, { flavour, ...idle }))
  return statements
}

/** The plan of an SQLite file that does not exist yet. */
async function nowhere(): Promise<Dialect> {
  const { DummyDriver, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } = await import('kysely')
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}
