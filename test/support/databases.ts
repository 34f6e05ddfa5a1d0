import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createKeyring } from '../../src/lib/keyring.js'
import type { Change } from '../../src/model/change.js'
import type { AuditSeal } from '../../src/store/audit/chain.js'
import { openSqlite } from '../../src/store/sql/engine/sqlite-driver.js'
import { openSqlStore, type SqlStoreOptions } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { auditSeal } from '../../src/wiring/open-store.js'
import { startPostgres } from './pglite.js'

/** An empty store for one test, and what happened around it. */
export interface TestStore {
  store: Store
  /** Another process's view of the same records; null where there can be none. */
  openSecond: (() => Promise<Store>) | null
  /** What the store told this process of, in order. */
  changes: Change[]
  /** How often the store said that mails are due. */
  mailSignals(): number
  /** Makes everything in the store that much older, by the store's clock. */
  age(milliseconds: number): Promise<void>
  close(): Promise<void>
}

export function randomId(): string {
  return randomBytes(16).toString('base64url')
}

/** Marks the audit log as a process with these keys does. */
export function testSeal(keys: readonly string[] = ['audit-test-key-0123456789abcdefghij']): AuditSeal {
  return auditSeal(createKeyring(keys))
}

/** Everything `openSqlStore` wants besides the database: a clock that stands still, and pauses that only yield. */
export function storeOptions(overrides: Partial<SqlStoreOptions> = {}): Omit<SqlStoreOptions, 'database'> {
  return {
    now: () => 1_700_000_000_000,
    randomId,
    sleep: async () => void (await setImmediate()),
    random: () => 0.5,
    seal: testSeal(),
    onChange: () => {},
    onMail: () => {},
    ...overrides,
  }
}

/** A folder of its own for one test. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'latchkey-store-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** A store in a file of its own. */
export async function openSqliteFile(): Promise<TestStore> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'latchkey.db')
  const opened = await openSqliteStore(file)
  return {
    ...opened,
    async close() {
      await opened.close()
      await folder.remove()
    },
  }
}

/** A store in memory, which no other connection can see. */
export async function openSqliteMemory(): Promise<TestStore> {
  return { ...(await openSqliteStore(':memory:')), openSecond: null }
}

async function openSqliteStore(file: string): Promise<TestStore> {
  const clock = { nowMs: 1_700_000_000_000 }
  const seen = createWitness()
  const database = { kind: 'sqlite', file } as const
  const store = await openSqlStore({ ...storeOptions(seen.listeners), database, now: () => clock.nowMs })
  const others: Store[] = []
  return {
    store,
    async openSecond() {
      const second = await openSqlStore({ ...storeOptions(), database, now: () => clock.nowMs })
      others.push(second)
      return second
    },
    changes: seen.changes,
    mailSignals: seen.mailSignals,
    async age(milliseconds) {
      clock.nowMs += milliseconds
    },
    async close() {
      await Promise.all([store, ...others].map((each) => each.close()))
    },
  }
}

/** Opens stores on one PostgreSQL, one after the other, each on an empty database. */
export async function startPostgresStores(): Promise<{ open(): Promise<TestStore>; close(): Promise<void> }> {
  const postgres = await startPostgres()
  const openOn = (overrides: Partial<SqlStoreOptions> = {}) =>
    openSqlStore({ ...storeOptions(overrides), database: { kind: 'dialect', dialect: postgres.dialect() } })
  await (await openOn()).close()
  const wipe = await rememberEmpty(postgres.query)
  return {
    async open() {
      await wipe()
      const seen = createWitness()
      const store = await openOn(seen.listeners)
      return {
        store,
        openSecond: () => openOn(),
        changes: seen.changes,
        mailSignals: seen.mailSignals,
        async age(milliseconds) {
          await postgres.query(
            `update latchkey_changes set at_ms = at_ms - ${milliseconds};
             update latchkey_sessions set proven_at_ms = proven_at_ms - ${milliseconds}`,
          )
        },
        close: () => store.close(),
      }
    },
    close: () => postgres.close(),
  }
}

const emptied = [
  'latchkey_users',
  'latchkey_one_time_tokens',
  'latchkey_api_tokens',
  'latchkey_counters',
  'latchkey_outbox',
  'latchkey_audit',
  'latchkey_audit_head',
  'latchkey_changes',
  'latchkey_access_entries',
  'latchkey_key_ids',
  'latchkey_key_sets',
]

type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/**
 * Remembers what the migration has written, and answers how to go back to it: rows go, tables stay, which is far
 * quicker than to make them anew.
 */
export async function rememberEmpty(query: Query): Promise<() => Promise<void>> {
  const [head = {}] = await query('select * from latchkey_audit_head')
  const values = Object.values(head).map((value) => `'${value}'`)
  return async () => {
    await query('begin')
    for (const table of emptied) await query(`delete from ${table}`)
    await query('update latchkey_installation set hash_name = null, hash_ms = 0, jwks_url = null')
    await query(`insert into latchkey_audit_head (${Object.keys(head)}) values (${values})`)
    await query('commit')
  }
}

/** Listeners for a store that keep what they are told. */
export function createWitness() {
  const changes: Change[] = []
  let mails = 0
  return {
    changes,
    mailSignals: () => mails,
    listeners: {
      onChange: (change: Change) => void changes.push(change),
      onMail: () => {
        mails += 1
      },
    },
  }
}

/** Another program that has the file open: it takes the write lock and holds it. */
export async function holdWriteLock(file: string): Promise<{ release(): void }> {
  const other = await openSqlite(file)
  other.exec('begin immediate')
  return {
    release() {
      other.exec('rollback')
      other.close()
    },
  }
}
