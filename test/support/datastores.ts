import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sleep } from '../../src/lib/runtime.js'
import { type DatastoreOptions, openDatastoreStore } from '../../src/store/datastore/store.js'
import type { Store } from '../../src/store/store.js'
import { createWitness, storeOptions, type TestStore, temporaryFolder } from './databases.js'
import { createPersistentDatastore, type PersistentOptions } from './persistent-datastore.js'

/** Waits long enough for others, and short enough for tests. */
export const shortTiming = { holdMs: 600, leaseMs: 900, patienceMs: 5_000, callMs: 500 }

/** Everything `openDatastoreStore` wants besides the Datastore. */
export function datastoreOptions(overrides: Partial<DatastoreOptions> = {}): Omit<DatastoreOptions, 'datastore'> {
  return {
    ...storeOptions(),
    // Real time passes: whoever waits for a turn must not use up its patience in an instant.
    sleep: (milliseconds) => (milliseconds < 2 ? setImmediate() : sleep(milliseconds / 10)),
    onLimits: () => {},
    timing: shortTiming,
    ...overrides,
  }
}

/** A store in a Datastore of its own. */
export async function openDatastore(platform: Omit<PersistentOptions, 'file'> = {}): Promise<TestStore> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'datastore.db')
  const clock = { nowMs: 1_700_000_000_000 }
  const seen = createWitness()
  const now = () => clock.nowMs
  const opened: (() => Promise<void>)[] = []

  async function open(overrides: Partial<DatastoreOptions>): Promise<Store> {
    const datastore = createPersistentDatastore({ ...platform, file })
    const store = await openDatastoreStore({ ...datastoreOptions({ ...overrides, now }), datastore })
    opened.push(async () => {
      await store.close()
      datastore.close()
    })
    return store
  }

  return {
    store: await open(seen.listeners),
    openSecond: () => open({}),
    changes: seen.changes,
    mailSignals: seen.mailSignals,
    async age(milliseconds) {
      clock.nowMs += milliseconds
    },
    async close() {
      for (const close of opened) await close()
      await folder.remove()
    },
  }
}
