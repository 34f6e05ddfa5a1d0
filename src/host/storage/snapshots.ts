import type { World } from '../../lib/runtime.js'
import {
  readList,
  readNullable,
  readNumber,
  readObject,
  readPage,
  readSize,
  readState,
  readText,
} from '../documents/remote-ports.js'
import { StoreError } from '../documents/store-error.js'
import { isPlain } from '../documents/values.js'
import type { Snapshot } from '../ports.js'
import type { SnapshotRead } from './messages.js'
import type { SpaceCalls } from './space-calls.js'

/** How many snapshots are open. */
interface Places {
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

interface Snapshots {
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

/** Watches whether a reader takes 64 KiB a second, over all its pauses. The time that reading takes us does not count. */
interface ReaderWatch {
  /** The reader waits for us. */
  pause(): void
  /** The reader has got that many bytes, and works on them. */
  resume(bytes: number): void
  end(): void
}

const bytesPerMs = 64 * 1.024
/** What a reader may take before its first page, and beyond the pace. */
const graceMs = 10_000
/** What a fast reader saves up, so that none stays for an hour by its first second. */
const mostCreditMs = 60_000

function watchReader({ now, timer }: Pick<World, 'now' | 'timer'>, onLate: () => void): ReaderWatch {
  let creditMs = graceMs
  let since = now()
  let cancel = () => {}
  return {
    pause() {
      cancel()
      // A clock that is set back gives nothing.
      creditMs -= Math.max(0, now() - since)
    },
    resume(bytes) {
      const ownMs = bytes / bytesPerMs
      creditMs = Math.min(creditMs + ownMs, Math.max(mostCreditMs, graceMs + ownMs))
      since = now()
      cancel = timer(Math.max(0, creditMs), onLate)
    },
    end: () => cancel(),
  }
}

/** The port over reads that a thread answers. */
function snapshotPages(read: (asked: SnapshotRead) => Promise<unknown>): Omit<Snapshot, 'close'> {
  return {
    list: async () => readList(await read({ verb: 'list' }), readCollection),
    async scan(collection, options) {
      return readPage(await read({ verb: 'scan', collection, options }))
    },
    async pairs(after) {
      const page = readObject(await read({ verb: 'pairs', after }))
      return { rows: readList(page.rows, readPair), next: readNullable(page.next, readName) }
    },
  }
}

/** About how many bytes a page holds. */
function sizeOf(page: unknown): number {
  if (!isPlain(page)) return 0
  const sizes = [page.documents, page.rows].flatMap((list) => (Array.isArray(list) ? list.map(sizeOfRow) : []))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The text of a document, or the value under a key. */
function sizeOfRow(row: unknown): number {
  const { body, value } = readObject(row)
  return [body, value].reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}

function readCollection(value: unknown) {
  const { indexes } = readObject(value)
  return { ...readSize(value), indexes: readList(indexes, readState) }
}

function readName(value: unknown) {
  const { keyspace, key } = readObject(value)
  return { keyspace: readText(keyspace), key: readText(key) }
}

function readPair(value: unknown) {
  const { value: text, endsAt } = readObject(value)
  return { ...readName(value), value: readText(text), endsAt: readNullable(endsAt, readNumber) }
}
