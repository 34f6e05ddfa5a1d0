import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../../contracts/store.js'
import { startPostgresStores } from '../../support/databases.js'

let postgres: Awaited<ReturnType<typeof startPostgresStores>>
beforeAll(async () => {
  postgres = await startPostgresStores()
})
afterAll(() => postgres.close())

storeContract('PostgreSQL through a dialect of the application', () => postgres.open())
