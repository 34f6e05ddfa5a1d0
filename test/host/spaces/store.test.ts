import { afterAll, beforeAll } from 'vitest'
import { spacesContract } from '../../contracts/host/spaces.js'
import { startPostgres, type TestPostgres } from '../../support/pglite.js'
import { standingClock } from '../../support/postgres-clock.js'
import { hostFolder, openProcess } from '../../support/space-world.js'
import { openSpacesOn } from '../../support/spaces-on-postgres.js'

spacesContract('SQLite', async () => {
  const host = await hostFolder()
  const { nouns, store, changes } = await openProcess(host)
  return {
    nouns,
    store,
    changes,
    openSecond: async () => (await openProcess(host)).nouns,
    async pass(milliseconds) {
      host.clock.nowMs += milliseconds
    },
  }
})

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

spacesContract('PostgreSQL', async () => {
  await postgres.wipe()
  await postgres.query('drop schema if exists standing cascade')
  await postgres.query(standingClock.make)
  await postgres.query(`set search_path = ${standingClock.searchPath}`)
  const database = () => ({ kind: 'dialect' as const, dialect: postgres.dialect() })
  return openSpacesOn({ database, query: postgres.query })
})
