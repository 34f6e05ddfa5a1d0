import type { Kysely } from 'kysely'
import type { Database } from '../../../settings.js'
import { createFlavour, type Flavour, flavourNameOf, isDialect } from './flavour.js'
import { openMysql } from './mysql.js'
import { openPostgres, type PostgresOptions } from './postgres.js'
import type { Tables } from './schema.js'
import { parseServerUrl } from './server-address.js'
import { explainServerError } from './server-faults.js'
import { openSqlite, type SqliteDriverName } from './sqlite-driver.js'
import { databasePath, explainFileError, makePrivateFile } from './sqlite-file.js'

export type SqlDatabase = Exclude<Database, { kind: 'datastore' }>

export interface Connection {
  db: Kysely<Tables>
  flavour: Flavour
  /** Which driver is in use; `dialect` for a dialect that the application gave. */
  driver: SqliteDriverName | 'postgres' | 'mysql' | 'dialect'
  /** The isolation level that each transaction must ask for, because neither database nor session sets it. */
  isolation: 'read committed' | null
  /** Whether steps are notified of broken connections. Then it matters which statement a step has sent. */
  breakable: boolean
  /** Whether calls may share a statement. Only where one locked row cannot delay all the other calls for long. */
  gathers: boolean
  /** Opens a separate connection for migrations, which may need to exceed the limits of the pool's connections. */
  openPatient: (() => Promise<Kysely<Tables>>) | null
  /** Explains a fault of the database itself in plain words where we know them. */
  explain(error: unknown): unknown
}

/**
 * Connects. Kysely and drivers are loaded here and not before, so that importing latchkey stays fast.
 *
 * @throws {Error} naming the setting and what is wrong with it; what the driver throws, for example when the file is busy
 */
export async function connect(
  database: SqlDatabase,
  now: () => number,
  onPooler?: PostgresOptions['onPooler'],
): Promise<Connection> {
  if (database.kind === 'sqlite') return connectSqlite(database.file, now)
  if (database.kind === 'dialect') return connectDialect(database.dialect, now)
  return connectServer(database, now, onPooler)
}

async function connectServer(
  { kind, url }: Extract<SqlDatabase, { url: string }>,
  now: () => number,
  onPooler: PostgresOptions['onPooler'],
): Promise<Connection> {
  const address = parseServerUrl(kind, url)
  const openDialect = (patient: boolean) =>
    kind === 'postgres' ? openPostgres(address, { patient, onPooler }) : openMysql(address, patient)
  const { Kysely, sql } = await import('kysely')
  const dialect = await openDialect(false).catch((error: unknown) => {
    throw explainMissingDriver(error, kind === 'postgres' ? 'pg' : 'mysql2')
  })
  return {
    db: new Kysely<Tables>({ dialect }),
    flavour: createFlavour(kind, sql, now),
    driver: kind,
    // MySQL keeps the level for a session. PostgreSQL takes it in the statement that begins a transaction, at no cost.
    isolation: kind === 'postgres' ? 'read committed' : null,
    breakable: true,
    gathers: kind === 'postgres' && !address.pooled,
    openPatient: async () => new Kysely<Tables>({ dialect: await openDialect(true) }),
    explain: (error) => explainServerError(error, address.place),
  }
}

/** Drivers are peer dependencies: the application installs the one for its server. */
function explainMissingDriver(error: unknown, name: 'pg' | 'mysql2'): unknown {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND'
  return isMissing
    ? new Error(`database: this URL needs the package ${name} (npm install ${name}).`, { cause: error })
    : error
}

async function connectSqlite(setting: string, now: () => number): Promise<Connection> {
  const file = databasePath(setting)
  const explain = (error: unknown) => explainFileError(error, file)
  makePrivateFile(file)
  const { Kysely, sql, SqliteDialect } = await import('kysely')
  const opened = await openSqlite(file).catch((error: unknown) => {
    throw explain(error)
  })
  return {
    db: new Kysely<Tables>({ dialect: new SqliteDialect({ database: opened }) }),
    flavour: createFlavour('sqlite', sql, now),
    driver: opened.driver,
    isolation: null,
    breakable: false,
    gathers: false,
    openPatient: null,
    explain,
  }
}

async function connectDialect(dialect: unknown, now: () => number): Promise<Connection> {
  if (!isDialect(dialect)) throw new Error('database: give a URL or a Kysely dialect.')
  const { Kysely, sql } = await import('kysely')
  const db = new Kysely<Tables>({ dialect })
  const flavour = createFlavour(flavourNameOf(db), sql, now)
  return {
    db,
    flavour,
    driver: 'dialect',
    isolation: flavour.name === 'sqlite' ? null : 'read committed',
    breakable: false,
    gathers: false,
    openPatient: null,
    explain: (error) => error,
  }
}
