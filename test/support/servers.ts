import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { openSqlStore, type SqlStoreOptions } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { createWitness, randomId, rememberEmpty, storeOptions, type TestStore } from './databases.js'
import { codesBelow } from './readme.js'

/** The database servers of this machine, as an owner of databases reaches them. */
export const serverUrls = {
  postgres: process.env.LATCHKEY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432',
  mysql: process.env.LATCHKEY_TEST_MYSQL ?? 'mysql://root@127.0.0.1:3306',
} as const

export type ServerKind = keyof typeof serverUrls

/** A database of its own on a real server; dropped by `close`. */
export interface TestDatabase {
  kind: ServerKind
  name: string
  url: string
  /** Asks the server beside the store; answers rows. */
  query(sql: string): Promise<Readonly<Record<string, unknown>>[]>
  /** Ends the connection of `query`. The next query opens another one. */
  release(): Promise<void>
  /** Drops the database, and runs this when it is gone. */
  close(afterwards?: string): Promise<void>
}

/**
 * An empty database. Fails when there is no server: whoever asks for one has said that it is there.
 *
 * @param template a database of PostgreSQL to copy, which nobody uses meanwhile
 */
export async function createDatabase(kind: ServerKind, template?: string): Promise<TestDatabase> {
  const name = `latchkey_test_${randomId().replace(/\W/g, '').toLowerCase()}`
  const from = template === undefined ? '' : ` template ${template}`
  // The other strategy of PostgreSQL writes every page to its log, which takes it several times as long.
  await askServer(kind, `create database ${name}${from}${kind === 'postgres' ? ' strategy file_copy' : ''}`)
  const url = `${serverUrls[kind]}/${name}`
  let own: Promise<Outside> | null = null
  return {
    kind,
    name,
    url,
    async query(sql) {
      own ??= connectTo(kind, url)
      return (await own).query(sql)
    },
    async release() {
      const opened = await own
      own = null
      await opened?.end()
    },
    async close(afterwards) {
      await (await own)?.end()
      const drop = `drop database ${name}${kind === 'postgres' ? ' with (force)' : ''}`
      await askServer(kind, drop, ...(afterwards === undefined ? [] : [afterwards]))
    },
  }
}

/** Asks as the owner of databases, on a connection of its own. */
async function askServer(kind: ServerKind, ...statements: string[]): Promise<void> {
  const admin = await connectTo(kind, `${serverUrls[kind]}/${kind === 'postgres' ? 'postgres' : ''}`)
  try {
    for (const sql of statements) await admin.query(sql)
  } finally {
    await admin.end()
  }
}

interface Outside {
  query: TestDatabase['query']
  end(): Promise<void>
}

async function connectTo(kind: ServerKind, url: string): Promise<Outside> {
  if (kind === 'mysql') {
    const connection = await createConnection(url)
    return {
      async query(sql) {
        const [rows] = await connection.query(sql)
        return Array.isArray(rows) ? rows.map((row) => ({ ...row })) : []
      },
      end: () => connection.end(),
    }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    query: async (sql) => (await client.query(sql)).rows,
    end: () => client.end(),
  }
}

/** The rights that docs/deploy/databases.md lists: it must name all that are needed. */
function grantsOf(kind: ServerKind): string[] {
  const page = new URL('../../docs/deploy/databases.md', import.meta.url)
  const mark = kind === 'postgres' ? '-- PostgreSQL' : '-- MariaDB'
  const code = codesBelow(page, 'PostgreSQL and MariaDB', 'sql').find((each) => each.startsWith(mark)) ?? ''
  return code
    .replace(/^--.*/, '')
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** Who an application runs as: with the rights that the page on databases lists, and none to make tables. */
export async function createRuntimeRole(
  { kind, name, url, query }: TestDatabase,
  grants = grantsOf(kind),
): Promise<{ url: string; drop: string }> {
  const own = new URL(url)
  own.username = name
  const account = kind === 'postgres' ? name : `'${name}'@'%'`
  await query(kind === 'postgres' ? `create role ${name} login` : `create user ${account}`)
  for (const grant of grants) await query(grant.replaceAll('latchkey_app', name).replaceAll(' app.', ` ${name}.`))
  return { url: own.href, drop: kind === 'postgres' ? `drop role ${name}` : `drop user ${account}` }
}

/** No test pulls the plug: a commit need not wait for the disk, where a session may say so. */
function withoutFlush(url: string): string {
  return url.startsWith('postgres') ? `${url}?options=-c%20synchronous_commit%3Doff` : url
}

export interface ServerStores {
  open(): Promise<TestStore>
  /** Asks the server as the application may. */
  asRuntime(sql: string): Promise<unknown>
  close(): Promise<void>
}

/** Opens stores on one database, one after the other, each on empty tables that somebody else owns. */
export async function startServerStores(kind: ServerKind): Promise<ServerStores> {
  const database = await createDatabase(kind)
  const { query } = database
  const owner = await openSqlStore({ ...storeOptions(), database })
  await owner.close()
  const wipe = await rememberEmpty(query)
  const role = await createRuntimeRole(database)
  const openOn = (overrides: Partial<SqlStoreOptions> = {}) =>
    openSqlStore({ ...storeOptions(overrides), database: { kind, url: withoutFlush(role.url) } })
  return {
    async open() {
      await wipe()
      const seen = createWitness()
      const store = await openOn(seen.listeners)
      const others: Store[] = []
      return {
        store,
        async openSecond() {
          const second = await openOn()
          others.push(second)
          return second
        },
        changes: seen.changes,
        mailSignals: seen.mailSignals,
        async age(milliseconds) {
          await query(`update latchkey_changes set at_ms = at_ms - ${milliseconds}`)
          await query(`update latchkey_sessions set proven_at_ms = proven_at_ms - ${milliseconds}`)
        },
        async close() {
          await Promise.all([store, ...others].map((each) => each.close()))
        },
      }
    },
    async asRuntime(sql) {
      const runtime = await connectTo(kind, role.url)
      await runtime.query(sql).finally(() => runtime.end())
    },
    close: () => database.close(role.drop),
  }
}
