import type { Keyring } from '../lib/keyring.js'
import type { RandomSource } from '../lib/random.js'
import type { World } from '../lib/runtime.js'
import type { AuditEvent } from '../model/audit-event.js'
import type { Change } from '../model/change.js'
import type { Settings } from '../settings.js'
import type { Store } from '../store/store.js'

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
