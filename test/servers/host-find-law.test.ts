import { vi } from 'vitest'
import { openSchema } from '../../src/host/storage/postgres/open-schema.js'
import { openPools } from '../../src/host/storage/postgres/pool.js'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { defaultLimits } from '../../src/host/storage/threads.js'
import { findLaw } from '../contracts/host/find-law.js'
import { randomId } from '../support/databases.js'
import { recordedStore } from '../support/recorded-store.js'
import { createDatabase } from '../support/servers.js'

/** As in test/host/documents/find-law.test.ts. Each set of documents makes its tables and drops them, so there are fewer. */
const finds = Number(process.env.LATCHKEY_LAW_FINDS ?? 2_000)
vi.setConfig({ testTimeout: 120_000 + 20 * finds })

findLaw('PostgreSQL', finds, async () => {
  const database = await createDatabase('postgres')
  const pools = openPools(`${database.url}?options=-c%20synchronous_commit%3Doff`)
  const data = await openSchema(pools, schemaName(randomId(), 1), defaultLimits)
  return {
    store: recordedStore(data),
    async tidy() {
      while (await data.tidy(0));
    },
    async close() {
      await data.close()
      await Promise.all([pools.calls.end(), pools.snapshots.end()])
      await database.close()
    },
  }
})
