import { afterAll } from 'vitest'
import { importRoutes } from '../contracts/host/collections/import.js'
import { indexRoutes } from '../contracts/host/collections/indexes.js'
import { queryRoutes } from '../contracts/host/collections/query.js'
import { restoreRoutes } from '../contracts/host/collections/restore.js'
import { shiftedClock } from '../support/postgres-clock.js'
import { createDatabase, type TestDatabase } from '../support/servers.js'

const databases: TestDatabase[] = []
afterAll(async () => {
  for (const { close } of databases) await close()
})

/** A host has a database of its own. No test pulls the plug, so a commit need not wait for the disk. */
async function open() {
  const database = await createDatabase('postgres')
  databases.push(database)
  await database.query(shiftedClock.make)
  return {
    database: `${database.url}?options=-c%20synchronous_commit%3Doff%20-c%20search_path%3D${shiftedClock.searchPath}`,
    shift: async (milliseconds: number) => void (await database.query(shiftedClock.set(milliseconds))),
  }
}

importRoutes('PostgreSQL', open)
indexRoutes('PostgreSQL', open)
queryRoutes('PostgreSQL', open)
restoreRoutes('PostgreSQL', open)
