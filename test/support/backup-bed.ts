import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { schemaName } from '../../src/host/storage/postgres/schema.js'
import { standingClock } from './postgres-clock.js'
import { createDatabase, type TestDatabase } from './servers.js'
import { type HostFolder, hostFolder } from './space-world.js'

/** Where hosts keep the data of spaces. */
export interface BackupBed {
  /** An empty host. */
  host(): Promise<HostFolder>
  /** The same host at another place, whose process has ended. */
  copied(host: HostFolder): Promise<HostFolder>
  remove(host: HostFolder): Promise<void>
  /** Moves the clock of the host. */
  pass(host: HostFolder, milliseconds: number): Promise<void>
  /** What is kept of a space: `g<n>` for a generation, `draft<n>` for one that is being filled, `lost`. */
  kept(host: HostFolder, spaceId: string): Promise<string[]>
  /** A generation cannot be opened any more. */
  damage(host: HostFolder, spaceId: string, generation: number): Promise<void>
  /** A generation is gone. */
  lose(host: HostFolder, spaceId: string, generation: number): Promise<void>
}

/** In files of a folder. */
export const sqliteBed: BackupBed = {
  host: hostFolder,
  async copied(host) {
    const path = await mkdtemp(join(tmpdir(), 'latchkey-copied-'))
    await cp(host.path, path, { recursive: true })
    return { ...host, clock: { ...host.clock }, path }
  },
  remove: ({ path }) => rm(path, { recursive: true }),
  async pass({ clock }, milliseconds) {
    clock.nowMs += milliseconds
  },
  async kept({ path }, spaceId) {
    const names = await readdir(join(path, 'spaces', spaceId))
    const isData = (name: string) => name.endsWith('.db') || name === 'lost'
    return names.flatMap((name) => (isData(name) ? [name.replace(/\.db$/, '')] : [])).toSorted()
  },
  damage: ({ path }, spaceId, generation) =>
    writeFile(join(path, 'spaces', spaceId, `g${generation}.db`), 'no database'),
  lose: ({ path }, spaceId, generation) => rm(join(path, 'spaces', spaceId, `g${generation}.db`)),
}

/** In a database each, on the PostgreSQL server. They are dropped when the test ends. */
export function postgresBed(): BackupBed {
  const databases = new Map<string, TestDatabase>()
  const of = (host: HostFolder): TestDatabase => {
    const found = databases.get(host.database ?? '')
    if (!found) throw new Error('This host has no database.')
    return found
  }

  function listed(database: TestDatabase): string {
    const url = `${database.url}?options=-c%20synchronous_commit%3Doff%20-c%20search_path%3D${standingClock.searchPath}`
    databases.set(url, database)
    onTestFinished(async () => {
      if (databases.delete(url)) await database.close()
    })
    return url
  }

  return {
    async host() {
      const database = await createDatabase('postgres')
      await database.query(standingClock.make)
      return { ...(await hostFolder()), database: listed(database) }
    },
    async copied(host) {
      const { name, release } = of(host)
      await release()
      const database = listed(await createDatabase('postgres', name))
      return { ...(await sqliteBed.copied(host)), database }
    },
    async remove(host) {
      const database = of(host)
      databases.delete(host.database ?? '')
      await database.close()
      await sqliteBed.remove(host)
    },
    async pass(host, milliseconds) {
      host.clock.nowMs += milliseconds
      await of(host).query(standingClock.move(milliseconds))
    },
    async kept(host, spaceId) {
      const rows = await of(host).query(`select nspname from pg_namespace where nspname ~ '^lk_${spaceId}_'`)
      return rows.map(({ nspname }) => String(nspname).slice(`lk_${spaceId}_`.length)).toSorted()
    },
    async damage(host, spaceId, generation) {
      await of(host).query(`drop table "${schemaName(spaceId, generation)}".space`)
    },
    async lose(host, spaceId, generation) {
      await of(host).query(`drop schema "${schemaName(spaceId, generation)}" cascade`)
    },
  }
}
