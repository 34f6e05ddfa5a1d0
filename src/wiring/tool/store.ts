import { existsSync } from 'node:fs'
import type { Keyring } from '../../lib/keyring.js'
import type { RandomSource } from '../../lib/random.js'
import { nowSeconds, type World } from '../../lib/runtime.js'
import type { Migrations } from '../../model/migrations.js'
import type { Database, Settings } from '../../settings.js'
import { databasePath } from '../../store/sql/engine/sqlite-file.js'
import type { Store } from '../../store/store.js'
import { accessKeyId } from '../../tokens/jwt.js'
import { readMigrations } from '../dry-run.js'
import type { ToolHome } from './home.js'

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
