import { afterAll } from 'vitest'
import type { CollectionsHostOptions } from './collections-host.js'
import { shiftedClock } from './postgres-clock.js'
import { createDatabase, type TestDatabase } from './servers.js'

/**
 * Where hosts of a file keep their data: each in a database of its own, which is dropped at the end. No test pulls the plug, so a
 * commit need not wait for the disk.
 */
export function postgresHosts(): () => Promise<CollectionsHostOptions> {
  const databases: TestDatabase[] = []
  afterAll(async () => {
    for (const { close } of databases) await close()
  })
  return async () => {
    const database = await createDatabase('postgres')
    databases.push(database)
    await database.query(shiftedClock.make)
    return {
      database: `${database.url}?options=-c%20synchronous_commit%3Doff%20-c%20search_path%3D${shiftedClock.searchPath}`,
      shift: async (milliseconds) => void (await database.query(shiftedClock.set(milliseconds))),
    }
  }
}
