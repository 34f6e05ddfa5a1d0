import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../contracts/store.js'
import { startServerStores } from '../support/servers.js'

let server: Awaited<ReturnType<typeof startServerStores>>
beforeAll(async () => {
  server = await startServerStores('mysql')
})
afterAll(() => server.close())

storeContract('MariaDB', () => server.open())
