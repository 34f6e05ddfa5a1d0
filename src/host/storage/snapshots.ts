import type { World } from '../../lib/runtime.js'
import { StoreError } from '../documents/store-error.js'
import type { Snapshot } from '../ports.js'
import type { SnapshotRead } from './messages.js'
import { watchReader } from './reader-watch.js'
import { sizeOf, snapshotPages } from './snapshot-pages.js'
import type { SpaceCalls } from './space-calls.js'

/** How many snapshots are open. */
export interface Places {
  /** False when there is no place left. */
  take(): boolean
  giveBack(): void
}

export function createPlaces(most: number): Places {
  let taken = 0
  return {
    take() {
      if (taken >= most) return false
      taken += 1
      return true
    },
    giveBack() {
      taken -= 1
    },
  }
}

export interface SnapshotWorld extends Pick<World, 'now' | 'timer'> {
  /** Of all spaces of the host. */
  snapshots: Places
}

export interface Snapshots {
  /** @throws {StoreError} `store_unavailable`, also while too many are open */
  open(): Promise<Snapshot>
  /** Ends all of them. */
  close(): void
}

const mostOfSpace = 4
const longestMs = 60 * 60 * 1000

/** The snapshots of one space. Each makes the log of its file grow, so they are few and end in time. */
export function createSnapshots(calls: SpaceCalls, space: number, world: SnapshotWorld): Snapshots {
  const own = createPlaces(mostOfSpace)
  const opened = new Set<OpenSnapshot>()
  let last = 0

  function take(): OpenSnapshot {
    if (!own.take()) throw tooMany()
    if (!world.snapshots.take()) {
      own.giveBack()
      throw tooMany()
    }
    last += 1
    const taken = new OpenSnapshot({ calls, world, space, snapshot: last }, () => {
      opened.delete(taken)
      own.giveBack()
      world.snapshots.giveBack()
    })
    opened.add(taken)
    return taken
  }

  return {
    async open() {
      const taken = take()
      await taken.begin()
      const pages = snapshotPages((asked) => taken.read(asked))
      return { ...pages, close: async () => taken.end('It was closed.') }
    },
    close() {
      for (const each of [...opened]) each.end('The data of the space was closed.')
    },
  }
}

interface SnapshotPlace {
  calls: SpaceCalls
  world: SnapshotWorld
  space: number
  /** Its number within the space. */
  snapshot: number
}

class OpenSnapshot {
  private readonly place: SnapshotPlace
  private readonly onEnd: () => void
  private readonly watch: ReturnType<typeof watchReader>
  private readonly cancel: () => void
  private ended: string | null = null

  constructor(place: SnapshotPlace, onEnd: () => void) {
    const { timer } = place.world
    this.place = place
    this.onEnd = onEnd
    this.watch = watchReader(place.world, () => this.end('It was read too slowly.'))
    this.cancel = timer(longestMs, () => this.end('It was open for an hour.'))
  }

  async begin(): Promise<void> {
    const { calls, world, space, snapshot } = this.place
    try {
      await calls.post({ kind: 'beginSnapshot', space, snapshot, nowMs: world.now() })
    } catch (error) {
      this.end('It could not be opened.')
      throw error
    }
    if (this.ended !== null) throw overdue(this.ended)
    this.watch.resume(0)
  }

  async read(read: SnapshotRead): Promise<unknown> {
    const { calls, space, snapshot } = this.place
    if (this.ended !== null) throw overdue(this.ended)
    this.watch.pause()
    try {
      const page = await calls.post({ kind: 'readSnapshot', space, snapshot, read })
      if (this.ended !== null) throw overdue(this.ended)
      this.watch.resume(sizeOf(page))
      return page
    } catch (error) {
      // A thread that died has lost it, and a fault would come again.
      this.end('It could not be read.')
      throw error
    }
  }

  end(reason: string): void {
    if (this.ended !== null) return
    this.ended = reason
    this.cancel()
    this.watch.end()
    this.onEnd()
    const { calls, space, snapshot } = this.place
    void calls.post({ kind: 'endSnapshot', space, snapshot }).catch(() => {})
  }
}

function overdue(reason: string): StoreError {
  return new StoreError('store_unavailable', `The snapshot of this space has ended. ${reason}`)
}

function tooMany(): StoreError {
  const cure = 'Try again when an export or a backup has ended.'
  return new StoreError('store_unavailable', `Too many snapshots are open. ${cure}`)
}
