import { setTimeout as pause } from 'node:timers/promises'
import { describe, onTestFinished } from 'vitest'
import { openSqlStore } from '../../src/store/sql/store.js'
import type { Store } from '../../src/store/store.js'
import { housekeepingContract } from '../contracts/housekeeping.js'
import { outboxWorkersContract } from '../contracts/outbox-workers.js'
import { storeOptions } from '../support/databases.js'
import { createDatabase, type ServerKind } from '../support/servers.js'

describe.each<ServerKind>(['postgres', 'mysql'])('many processes on %s', (kind) => {
  async function openStores(count: number): Promise<Store[]> {
    const database = await createDatabase(kind)
    const options = storeOptions({ sleep: async (milliseconds) => void (await pause(milliseconds)) })
    const opening = Array.from({ length: count }, () =>
      openSqlStore({ ...options, database: { kind, url: database.url } }),
    )
    const stores = await Promise.all(opening)
    onTestFinished(async () => {
      await Promise.all(stores.map((store) => store.close()))
      await database.close()
    })
    return stores
  }

  housekeepingContract(openStores)
  outboxWorkersContract(openStores)
})
