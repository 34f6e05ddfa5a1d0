import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { sleep } from '../../src/lib/runtime.js'
import { type DatastoreOptions, openDatastoreStore } from '../../src/store/datastore/store.js'
import type { Store } from '../../src/store/store.js'
import { createWitness, storeOptions, type TestStore, temporaryFolder } from './databases.js'
import { createPersistentDatastore, type PersistentOptions } from './persistent-datastore.js'

export type Platform = Omit<PersistentOptions, 'file'>

/** One Datastore, on which any number of stores are opened, each as by a process of its own. */
export interface DatastoreBed {
  file: string
  clock: { nowMs: number }
  open(platform?: Platform, overrides?: Partial<DatastoreOptions>): Promise<Store>
  close(): Promise<void>
}

/** Waits long enough for others, and short enough for tests. */
const testTiming = { holdMs: 600, leaseMs: 900, patienceMs: 15_000, callMs: 10_000 }

/** Everything `openDatastoreStore` wants besides the Datastore: a clock that stands still, and real, shorter pauses. */
export function datastoreOptions(overrides: Partial<DatastoreOptions> = {}): Omit<DatastoreOptions, 'datastore'> {
  return {
    ...storeOptions(),
    // Real time passes: whoever waits for a turn must not use up its patience in an instant.
    sleep: (milliseconds) => (milliseconds < 2 ? setImmediate() : sleep(milliseconds / 10)),
    onLimits: () => {},
    timing: testTiming,
    ...overrides,
  }
}

export async function createDatastoreBed(): Promise<DatastoreBed> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'datastore.db')
  const clock = { nowMs: 1_700_000_000_000 }
  const opened: (() => Promise<void>)[] = []
  return {
    file,
    clock,
    async open(platform = {}, overrides = {}) {
      const datastore = createPersistentDatastore({ ...platform, file })
      const store = await openDatastoreStore({
        ...datastoreOptions({ now: () => clock.nowMs, ...overrides }),
        datastore,
      })
      opened.push(async () => {
        await store.close()
        datastore.close()
      })
      return store
    },
    async close() {
      for (const close of opened) await close()
      await folder.remove()
    },
  }
}

/** A store in a Datastore of its own. */
export async function openDatastore(platform: Platform = {}): Promise<TestStore> {
  const bed = await createDatastoreBed()
  const seen = createWitness()
  return {
    store: await bed.open(platform, seen.listeners),
    openSecond: () => bed.open(platform),
    changes: seen.changes,
    mailSignals: seen.mailSignals,
    async age(milliseconds) {
      bed.clock.nowMs += milliseconds
    },
    close: bed.close,
  }
}
