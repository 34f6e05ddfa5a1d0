import type { Kysely } from 'kysely'
import type { Database } from '../../../settings.js'
import { createFlavour, type Flavour, flavourNameOf, isDialect } from './flavour.js'
import { openMysql } from './mysql.js'
import { openPostgres } from './postgres.js'
import type { Tables } from './schema.js'
import { parseServerUrl } from './server-address.js'
import { explainServerError } from './server-faults.js'
import { openSqlite, type SqliteDriverName } from './sqlite-driver.js'
import { databasePath, explainFileError, makePrivateFile } from './sqlite-file.js'

export type SqlDatabase = Exclude<Database, { kind: 'datastore' }>

export interface Connection {
  db: Kysely<Tables>
  flavour: Flavour
  /** Which driver is in use; `dialect` where the application gave its own. */
  driver: SqliteDriverName | 'postgres' | 'mysql' | 'dialect'
  /** What a transaction has to ask for where neither the database nor the session does it. */
  isolation: 'read committed' | null
  /** Whether steps are told of connections that break, and which statement a step has sent by then matters. */
  breakable: boolean
  /** Whether calls may share a statement: only where no row can hold one up for long, and with it all the others. */
  gathers: boolean
  /** A connection of its own for migrations, where those of the pool have limits that they may need to exceed. */
  openPatient: (() => Promise<Kysely<Tables>>) | null
  /** What went wrong with the database as such, in words where we know them. */
  explain(error: unknown): unknown
}

/**
 * Connects. Kysely and drivers are loaded here and not before: importing latchkey stays fast.
 *
 * @throws {Error} naming the setting and what is wrong with it; what the driver throws, for example when the file is busy
 */
export async function connect(database: SqlDatabase, now: () => number): Promise<Connection> {
  if (database.kind === 'sqlite') return connectSqlite(database.file, now)
  if (database.kind === 'dialect') return connectDialect(database.dialect, now)
  return connectServer(database.kind, database.url, now)
}

async function connectServer(kind: 'postgres' | 'mysql', url: string, now: () => number): Promise<Connection> {
  const address = parseServerUrl(kind, url)
  const openDialect = kind === 'postgres' ? openPostgres : openMysql
  const { Kysely, sql } = await import('kysely')
  const dialect = await openDialect(address).catch((error: unknown) => {
    throw explainMissingDriver(error, kind === 'postgres' ? 'pg' : 'mysql2')
  })
  return {
    db: new Kysely<Tables>({ dialect }),
    flavour: createFlavour(kind, sql, now),
    driver: kind,
    // Of MySQL each session is told once; PostgreSQL hears it in the statement that begins a transaction, for nothing.
    isolation: kind === 'postgres' ? 'read committed' : null,
    breakable: true,
    gathers: kind === 'postgres' && !address.pooled,
    openPatient: async () => new Kysely<Tables>({ dialect: await openDialect(address, true) }),
    explain: (error) => explainServerError(error, address.place),
  }
}

/** Drivers are peers: whoever names a server installs the one for it. */
function explainMissingDriver(error: unknown, name: 'pg' | 'mysql2'): unknown {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
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
  if (!isDialect(dialect)) throw new Error('database: neither a URL nor a Kysely dialect.')
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
