import { existsSync } from 'node:fs'
import type { Keyring } from '../../lib/keyring.js'
import type { RandomSource } from '../../lib/random.js'
import { nowSeconds, type World } from '../../lib/runtime.js'
import type { CounterRows } from '../../limits/counters.js'
import type { HomeName } from '../../model/home.js'
import type { Migrations } from '../../model/migrations.js'
import type { Database, Settings } from '../../settings.js'
import { databasePath } from '../../store/sql/engine/sqlite-file.js'
import type { MigrationSet } from '../../store/sql/migrations/migration.js'
import type { StoreExtension } from '../../store/sql/store.js'
import type { Store } from '../../store/store.js'
import { accessKeyId } from '../../tokens/jwt.js'
import { type BetweenProcesses, openBetweenProcesses } from '../between-processes.js'
import { readMigrations } from '../dry-run.js'
import type { StoreEvents, StoreNeeds } from '../open-store.js'
import { openExtendedStore, openStore } from '../open-store.js'

/** What the tool has of an application before its database is open. */
export interface ToolParts {
  settings: Settings
  world: World
  random: RandomSource
  keyring: Keyring
}

/** Why the tool leaves a database alone: a sentence that says what to do instead. */
class ToolRefusal extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ToolRefusal'
  }
}

/** @throws {ToolRefusal} for a database that other processes cannot open */
export function refuseUnshared(database: Database): void {
  const remedy = 'Use its control API instead: --url https://api.example.org'
  if (database.kind === 'datastore') {
    throw new ToolRefusal(`database: only the running application can open a codehooks Datastore. ${remedy}`)
  }
  if (database.kind === 'sqlite' && database.file === ':memory:') {
    throw new ToolRefusal(`database: sqlite::memory: lives in the running application alone. ${remedy}`)
  }
}

/** @throws {ToolRefusal} when a newer release has changed the tables */
export function refuseNewer(applied: Migrations['applied']): void {
  const unknown = applied.filter(({ known }) => !known).map(({ name }) => name)
  if (unknown.length === 0) return
  throw new ToolRefusal(
    `database: a newer latchkey made the tables (${unknown.join(', ')}). Upgrade this package: npm install latchkey@latest`,
  )
}

/**
 * Opens the database of an application that runs or ran on it. Nothing is created or migrated.
 *
 * @param onChange called after a change that running processes must learn of
 * @throws {ToolRefusal}
 */
export async function openToolStore<Nouns>(
  parts: ToolParts,
  home: ToolHome<Nouns>,
  onChange: () => void,
): Promise<{ store: Store; nouns: Nouns }> {
  await refuseUnready(parts, home)
  const opened = await home.open(parts, { onChange, onMail() {}, onAudit() {} })
  try {
    await refuseForeignKeys(parts, opened.store)
    return opened
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

async function refuseUnready(parts: ToolParts, { further }: Pick<ToolHome<unknown>, 'further'>): Promise<void> {
  const { database } = parts.settings
  if (database.kind === 'sqlite' && !existsSync(databasePath(database.file))) {
    const path = databasePath(database.file)
    throw new ToolRefusal(`database: there is no file ${path}. Correct the path, or create it with: latchkey migrate`)
  }
  const { applied, pending } = await readMigrations(parts, further)
  refuseNewer(applied)
  if (pending.length === 0) return
  const state = applied.length === 0 ? 'there are no tables yet' : 'an older latchkey made the tables'
  throw new ToolRefusal(`database: ${state}. Run: latchkey migrate`)
}

/**
 * Refuses settings of another application or stage. Otherwise a token would be created that the running application does not
 * know, or mail be sealed that it cannot open.
 */
async function refuseForeignKeys({ settings, keyring, world }: ToolParts, store: Store): Promise<void> {
  const remedy = 'Check which .env the settings module reads, or name one with --env-file.'
  const ours = settings.accessSecrets.map(accessKeyId)
  const used = await store.keyIds.list()
  if (used.length > 0 && !used.some(({ kid }) => ours.includes(kid))) {
    throw new ToolRefusal(`JWT_ACCESS_TOKEN_SECRET: no token of this database was signed with it. ${remedy}`)
  }
  const gone = (await store.keysInUse(nowSeconds(world))).filter((id) => !keyring.keyIds.includes(id))
  if (gone.length === 0) return
  throw new ToolRefusal(
    `encryptionKey (or without it JWT_REFRESH_TOKEN_SECRET): records need another key (${gone.join(', ')}). ${remedy}`,
  )
}

/** What differs for the tool between the database of an application and that of a space host. */
export interface ToolHome<Nouns> {
  name: HomeName
  /** The host's own migrations; null: an application. */
  further: MigrationSet | null
  open(needs: StoreNeeds, events: StoreEvents): Promise<{ store: Store; nouns: Nouns }>
}

export const application: ToolHome<null> = {
  name: 'application',
  further: null,
  open: async (needs, events) => ({ store: await openStore(needs, events), nouns: null }),
}

export function hostWith<Nouns>(extension: StoreExtension<Nouns>): ToolHome<Nouns> {
  return {
    name: 'host',
    further: extension,
    open: (needs, events) => openExtendedStore(needs, events, extension),
  }
}

/** What the tool shares with the running processes besides rows. With `redis`, it connects when first needed. */
export interface ToolWake {
  counters: CounterRows
  /** Wakes the processes that read the change feed. Without it they learn of a change by polling, up to a second later. */
  wakeOthers(): Promise<void>
  close(): Promise<void>
}

export function createToolWake(parts: ToolParts, store: Store): ToolWake {
  const { redis, database } = parts.settings
  let opened: Promise<BetweenProcesses> | null = null

  function between(): Promise<BetweenProcesses> {
    opened ??= openBetweenProcesses(parts, store)
    return opened
  }

  async function wakeOthers(): Promise<void> {
    if (redis === null) {
      if (database.kind === 'postgres') await notifyPostgres(database.url, store.installationId, parts.random.id())
      return
    }
    const { wake, pingRedis } = await between()
    wake.notify()
    await pingRedis?.() // Redis answers in order, so the message above has arrived.
  }

  return {
    counters: redis === null ? store.counters : lateCounters(async () => (await between()).counters),
    wakeOthers,
    close: async () => (await opened?.catch(() => null))?.close(),
  }
}

function lateCounters(counters: () => Promise<CounterRows>): CounterRows {
  return {
    hit: async (...hit) => (await counters()).hit(...hit),
    hitTogether: async (...hits) => (await counters()).hitTogether(...hits),
    forget: async (ids) => (await counters()).forget(ids),
  }
}

async function notifyPostgres(url: string, installationId: string, self: string): Promise<void> {
  const [{ parseServerUrl }, { notifyOnce }] = await Promise.all([
    import('../../store/sql/engine/server-address.js'),
    import('../../store/sql/engine/notify.js'),
  ])
  const address = parseServerUrl('postgres', url)
  // A pooler moves connections between clients, so no process listens.
  if (!address.pooled) await notifyOnce({ address, installationId, self })
}
