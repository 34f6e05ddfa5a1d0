import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, onTestFinished } from 'vitest'
import { openSqlStore } from '../../../src/store/sql/store.js'
import type { Store } from '../../../src/store/store.js'
import { housekeepingContract } from '../../contracts/housekeeping.js'
import { outboxWorkersContract } from '../../contracts/outbox-workers.js'
import { storeOptions, temporaryFolder } from '../../support/databases.js'

/** So many stores on one file, each with a connection of its own. */
async function openStores(count: number): Promise<Store[]> {
  const folder = await temporaryFolder()
  const database = { kind: 'sqlite', file: join(folder.path, 'latchkey.db') } as const
  const opening = Array.from({ length: count }, () =>
    openSqlStore({ ...storeOptions({ sleep: async (milliseconds) => void (await pause(milliseconds)) }), database }),
  )
  const stores = await Promise.all(opening)
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await folder.remove()
  })
  return stores
}

describe('many processes on one SQLite file', () => {
  housekeepingContract(openStores)
  outboxWorkersContract(openStores)
})
