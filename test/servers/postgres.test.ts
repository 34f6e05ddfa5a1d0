import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../contracts/store.js'
import { startServerStores } from '../support/servers.js'

let server: Awaited<ReturnType<typeof startServerStores>>
beforeAll(async () => {
  server = await startServerStores('postgres')
})
afterAll(() => server.close())

storeContract('PostgreSQL', () => server.open())
