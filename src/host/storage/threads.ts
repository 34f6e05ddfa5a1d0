import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { isAbsolute } from 'node:path'
import type { World } from '../../lib/runtime.js'
import type { SpaceLimits, StoragePlace } from './messages.js'
import { unavailable } from './messages.js'
import { createPlaces } from './snapshots.js'
import { type OpenedSpace, openSpace, type SpaceData } from './space.js'
import { createThreadLink, type ThreadLink } from './thread-link.js'

export interface DataThreadsOptions {
  /** Default: as many as there are cores, 4 at most. */
  threads?: number
  world: Pick<World, 'now' | 'timer'>
  /** Whether spaces may write: false below the mark of a low disk. Asked with each write; must be fast. */
  mayWrite(): boolean
  /** For the log of the host: what failed, as an error's code or class. `spaceId` is null when a thread died. */
  onFault(fault: { spaceId: string | null; reason: string }): void
  /** Default: the thread's program beside this module. Tests pass a bundle of it. */
  program?: URL
}

/** The limits default to those of the settings of a host. */
export type SpacePlace = StoragePlace & Partial<SpaceLimits> & { spaceId: string }

/** The threads that run the SQL of all spaces. */
export interface DataThreads {
  /**
   * Opens a generation's file or schema, makes it if there is none, and migrates it in one transaction. A space always runs in the thread
   * that its id hashes to. When a thread dies, its calls reject with `store_unavailable`, and the next call starts it anew.
   *
   * @throws {StoreError} `store_unavailable` when it cannot be opened or is of a newer version
   */
  open(place: SpacePlace): Promise<SpaceData>
  /** Closes all spaces, then ends the threads. */
  close(): Promise<void>
}

/** As the settings of a host have them. */
export const defaultLimits: SpaceLimits = {
  quotaBytes: 10 * 1024 ** 3,
  documentBytes: 4 * 1024 ** 2,
  depth: 32,
  indexes: 64,
}
const hourMs = 60 * 60 * 1000
/** Of all spaces. */
const mostSnapshots = 16

export function createDataThreads(options: DataThreadsOptions): DataThreads {
  const { world, mayWrite, onFault } = options
  const count = options.threads ?? Math.min(availableParallelism(), 4)
  const program = options.program ?? new URL('./thread/worker.js', import.meta.url)
  const spaceIds = new Map<number, string>()
  const spaces = new Set<OpenedSpace>()
  const links: ThreadLink[] = Array.from({ length: count }, () =>
    createThreadLink(program, (space, reason) =>
      onFault({ spaceId: space === null ? null : (spaceIds.get(space) ?? null), reason }),
    ),
  )
  const { now, timer } = world
  const spaceWorld = { now, timer, mayWrite, snapshots: createPlaces(mostSnapshots) }
  let lastSpace = 0
  let isClosed = false
  let cancelSweep = scheduleSweep()

  function scheduleSweep(): () => void {
    return world.timer(hourMs, () => {
      for (const space of spaces) void space.tidy()
      cancelSweep = scheduleSweep()
    })
  }

  return {
    async open({ spaceId, ...given }) {
      const link = links[threadOf(spaceId, count)]
      if (isClosed || !link) throw unavailable()
      if ('file' in given && !isAbsolute(given.file)) throw new TypeError('The path of a space file must be absolute.')
      lastSpace += 1
      const number = lastSpace
      spaceIds.set(number, spaceId)
      try {
        const space = await openSpace(link, number, { ...defaultLimits, ...given }, spaceWorld)
        spaces.add(space)
        void space.tidy()
        return {
          ...space,
          async close() {
            spaces.delete(space)
            await space.close()
            spaceIds.delete(number)
          },
        }
      } catch (error) {
        spaceIds.delete(number)
        throw error
      }
    },
    async close() {
      isClosed = true
      cancelSweep()
      await Promise.all([...spaces].map((space) => space.close()))
      await Promise.all(links.map((link) => link.close()))
    },
  }
}

function threadOf(spaceId: string, count: number): number {
  return createHash('sha256').update(spaceId).digest().readUInt32BE(0) % count
}
