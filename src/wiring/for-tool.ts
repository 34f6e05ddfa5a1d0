import { createKeyring } from '../lib/keyring.js'
import { createRandom } from '../lib/random.js'
import { createWorld, type Runtime } from '../lib/runtime.js'
import type { Migrations } from '../model/migrations.js'
import type { Database, Settings } from '../settings.js'
import { databasePath } from '../store/sql/engine/sqlite-file.js'
import type { StoreExtension } from '../store/sql/store.js'
import type { Store } from '../store/store.js'
import { readMigrations } from './dry-run.js'
import { requirePackages } from './packages.js'
import { readSettings } from './settings.js'
import { bindToolCalls, createToolPorts, type ToolCalls, type ToolPorts } from './tool/calls.js'
import {
  application,
  createToolWake,
  hostWith,
  openToolStore,
  refuseNewer,
  refuseUnshared,
  type ToolHome,
  type ToolParts,
} from './tool/store.js'

/** An application as the command-line tool finds it: its settings, and its database, which is not open yet. */
export interface ToolApplication<Nouns = null> {
  settings: Settings
  /** The address of the application, without `basePath`. */
  url: string
  /** The database as people name it, without a password: `sqlite:./latchkey.db`. */
  database: string
  /** The absolute path of the SQLite file. Null: another kind of database. */
  file: string | null
  /** What `migrate` would do. Only reads. @throws {ToolRefusal} when a newer release made the tables */
  plan(): Promise<Migrations['pending']>
  /** Creates the tables or brings them up to date. @throws {ToolRefusal} when a newer release made them */
  migrate(): Promise<void>
  /**
   * Opens the database. Nothing is created or migrated.
   *
   * @throws {ToolRefusal} for a missing file, for tables of another release, and for secrets that the store does not know
   */
  open(): Promise<OpenToolApplication<Nouns>>
}

/** The flows, with the tool as their actor. */
export interface OpenToolApplication<Nouns = null> {
  calls: ToolCalls
  store: Store
  ports: ToolPorts
  /** What a space host stores besides its accounts; null: an application. */
  nouns: Nouns
  /** After a change, first wakes the running processes. */
  close(): Promise<void>
}

/**
 * Reads the settings of an application as `init` does. It starts no timer, no delivery of mail, no housekeeping, no guard and
 * no HTTP.
 *
 * @param osUser the name of the operating system's user, for the audit log
 * @throws {SettingsError} with every fault at once
 * @throws {ToolRefusal} for a database that only the running application can open
 * @example
 * const { calls, close } = await readApplication(settings, 'ann').open()
 */
export function readApplication(input: unknown, osUser: string, runtime?: Runtime): ToolApplication {
  return readHome(input, { osUser, home: application, runtime })
}

/**
 * The same of the accounts of a space host, with its own nouns.
 *
 * @throws as `readApplication`
 */
export function readHostAccounts<Nouns>(
  input: unknown,
  osUser: string,
  extension: StoreExtension<Nouns>,
): ToolApplication<Nouns> {
  return readHome(input, { osUser, home: hostWith(extension), runtime: undefined })
}

interface HomeInput<Nouns> {
  osUser: string
  home: ToolHome<Nouns>
  runtime: Runtime | undefined
}

function readHome<Nouns>(input: unknown, { osUser, home, runtime }: HomeInput<Nouns>): ToolApplication<Nouns> {
  const world = createWorld(runtime)
  const settings = readSettings(input, world)
  const { database } = settings
  requirePackages(settings)
  refuseUnshared(database)
  const parts: ToolParts = { settings, world, random: createRandom(), keyring: createKeyring(settings.encryptionKeys) }
  return {
    settings,
    url: `${settings.origin}${settings.urlPath}`,
    database: nameOf(database),
    file: database.kind === 'sqlite' ? databasePath(database.file) : null,
    plan: () => plan(parts, home),
    async migrate() {
      await plan(parts, home)
      const { store } = await home.open(parts, { onChange() {}, onMail() {}, onAudit() {} })
      await store.close()
    },
    open: () => openApplication(parts, home, osUser),
  }
}

async function plan(parts: ToolParts, { further }: Pick<ToolHome<unknown>, 'further'>): Promise<Migrations['pending']> {
  const { applied, pending } = await readMigrations(parts, further)
  refuseNewer(applied)
  return pending
}

async function openApplication<Nouns>(
  parts: ToolParts,
  home: ToolHome<Nouns>,
  osUser: string,
): Promise<OpenToolApplication<Nouns>> {
  let changed = false
  const { store, nouns } = await openToolStore(parts, home, () => {
    changed = true
  })
  const wake = createToolWake(parts, store)
  const ports = await createToolPorts(parts, { store, wake, home: home.name })
  return {
    calls: bindToolCalls(ports, osUser),
    store,
    ports,
    nouns,
    async close() {
      // Without it, every process finds the change by polling.
      if (changed) await wake.wakeOthers().catch(() => {})
      await wake.close()
      await ports.passwords.close()
      await store.close()
    },
  }
}

/** Never with a password or the parameters of a URL, which may hold one. */
function nameOf(database: Database): string {
  if (database.kind === 'sqlite') return `sqlite:${database.file}`
  if (database.kind !== 'postgres' && database.kind !== 'mysql') return 'database of the settings'
  const { protocol, username, host, pathname } = new URL(database.url)
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`
}
