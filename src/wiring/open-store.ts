import type { Keyring } from '../lib/keyring.js'
import type { RandomSource } from '../lib/random.js'
import { sleep, type World } from '../lib/runtime.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { Change } from '../model/change.js'
import type { Logger, Settings } from '../settings.js'
import type { AuditSeal } from '../store/audit/chain.js'
import type { DatastoreLimits } from '../store/datastore/store.js'
import type { StoreExtension } from '../store/sql/store.js'
import type { Store } from '../store/store.js'

/** Opens the store that the settings name, and loads no other store. */
export async function openStore(needs: StoreNeeds, events: StoreEvents): Promise<Store> {
  const { database, logger } = needs.settings
  const shared = sharedOptions(needs, events)
  if (database.kind !== 'datastore') {
    const { openSqlStore } = await import('../store/sql/store.js')
    return openSqlStore({ ...shared, database, onPooler: () => reportPooler(logger) })
  }
  const { openDatastoreStore } = await import('../store/datastore/store.js')
  const { datastore } = database
  return openDatastoreStore({ ...shared, datastore, onLimits: (limits) => reportLimits(logger, limits) })
}

/**
 * The same in an SQL database with further tables and nouns.
 *
 * @throws {TypeError} for a Datastore
 */
export async function openExtendedStore<Nouns>(
  needs: StoreNeeds,
  events: StoreEvents,
  extension: StoreExtension<Nouns>,
): Promise<{ store: Store; nouns: Nouns }> {
  const { database, logger } = needs.settings
  if (database.kind === 'datastore') throw new TypeError('The space host needs an SQL database.')
  const { openExtended } = await import('../store/sql/store.js')
  const options = { ...sharedOptions(needs, events), database, onPooler: () => reportPooler(logger) }
  return openExtended(options, extension)
}

function sharedOptions({ world, random, keyring }: StoreNeeds, events: StoreEvents) {
  return {
    now: world.now,
    randomId: random.id,
    sleep,
    random: random.jitter,
    seal: auditSeal(keyring),
    ...events,
  }
}

/** Logged at every start, because the operator must know what the given Datastore cannot guarantee. */
function reportLimits(logger: Logger, { manyProcesses }: DatastoreLimits): void {
  const sentence = manyProcesses
    ? 'The Datastore has no transactions: a process that stops for seconds in the middle of a write may spoil what others wrote meanwhile.'
    : 'The Datastore does not count exactly (incr): run one process only, several may lose writes or use a token twice.'
  logger.warn({ event: 'datastore_limits', manyProcesses }, sentence)
}

function reportPooler(logger: Logger): void {
  const sentence = 'A pooler shares the connections of PostgreSQL. Add pgbouncer=true to the URL of `database`.'
  logger.warn({ event: 'pooler' }, sentence)
}

const purpose = 'audit'

/** Marks of the audit log under the `encryptionKey` setting, which the store never sees. */
export function auditSeal(keyring: Pick<Keyring, 'digest' | 'digests' | 'keyIds'>): AuditSeal {
  return {
    sealAudit: (text) => keyring.digest(purpose, text),
    checkAudit(text, mac) {
      if (keyring.digests(purpose, text).includes(mac)) return 'good'
      return keyring.keyIds.some((id) => mac.startsWith(`${id}.`)) ? 'bad' : 'unknown'
    },
  }
}

/** The early parts that a store needs. */
export interface StoreNeeds {
  settings: Settings
  world: World
  keyring: Keyring
  random: RandomSource
}

/** The events that the store reports to this process. */
export interface StoreEvents {
  onChange(change: Change): void
  onMail(): void
  onAudit(event: AuditEvent): void
}

/** A type of its own, so that the public types lead to no store and so to no database driver. */
export type OpenStore = (needs: StoreNeeds, events: StoreEvents) => Promise<Store>
