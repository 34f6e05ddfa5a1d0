import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../documents/remote-ports.js'
import { StoreError } from '../documents/store-error.js'
import { type WireCall, type WirePort, wireFault } from '../documents/wire.js'
import type { Documents, Indexes, KeyValues, Snapshot, StoredPair } from '../ports.js'
import { isWriting, leavesRest } from './calls.js'
import type { OpenPlace, WireReply } from './messages.js'
import { judgeFault, unavailable } from './messages.js'
import { createSnapshots, type SnapshotWorld } from './snapshots.js'
import { createSpaceCalls } from './space-calls.js'
import type { ThreadLink } from './thread-link.js'

/** The data of one space, in one generation. Each call rejects with a `StoreError`. */
export interface SpaceData {
  documents: Documents
  indexes: Indexes
  keyValues: KeyValues
  /** A call of the wire with its arguments as JSON. The thread reads them. Never rejects. */
  answer(call: WireCall, body: string | Uint8Array<ArrayBuffer>): Promise<WireReply>
  /**
   * What is there now, while others go on writing. It ends after an hour, with the space, and when it is read too slowly.
   *
   * @throws {StoreError} `store_unavailable`, also while too many are open
   */
  snapshot(): Promise<Snapshot>
  /** Bytes on the disk: pages in use, and the write-ahead log. */
  usage(): Promise<{ bytes: number }>
  /** The last version that was given, from now on `above` at least. The next one is greater. */
  versions(above?: number): Promise<number>
  /** At most 1,000 pairs with the moments at which they expire, in one transaction. */
  putPairs(pairs: readonly StoredPair[]): Promise<void>
  /** Runs what waits, then closes the file. Later calls reject with `store_unavailable`. */
  close(): Promise<void>
}

export interface OpenedSpace extends SpaceData {
  /** Deletes expired pairs, dropped collections and removed indexes, page by page. Never rejects. */
  tidy(): Promise<void>
}

interface SpaceWorld extends SnapshotWorld {
  /** Whether spaces may write: false below the mark of a low disk. */
  mayWrite(): boolean
}

/** @throws {StoreError} `store_unavailable` when the file cannot be opened or migrated */
export async function openSpace(
  link: ThreadLink,
  space: number,
  place: OpenPlace,
  world: SpaceWorld,
): Promise<OpenedSpace> {
  const { now, mayWrite } = world
  const calls = createSpaceCalls(link, space, place)
  const tidyPage = async () => (await calls.post({ kind: 'tidy', space, nowMs: now() })) === true
  const tidy = createTidying(mayWrite, tidyPage)

  async function checked<T>(call: WireCall, run: () => Promise<T>): Promise<T> {
    if (isWriting(call)) requireDisk(mayWrite)
    try {
      return await run()
    } finally {
      if (leavesRest(call)) void tidy()
    }
  }

  const call = (port: WirePort, verb: string, ...input: readonly unknown[]) =>
    checked({ port, verb }, () => calls.post({ kind: 'call', space, nowMs: now(), call: { port, verb }, input }))

  await calls.open()
  const snapshots = createSnapshots(calls, space, world)
  return {
    documents: remoteDocuments(call),
    indexes: remoteIndexes(call),
    keyValues: remoteKeyValues(call),
    async answer(wired, body) {
      const transfer = typeof body === 'string' ? [] : [body.buffer]
      const post = () => calls.post({ kind: 'answer', space, nowMs: now(), call: wired, body }, transfer)
      try {
        return readReply(await checked(wired, post))
      } catch (error) {
        const { status, text } = wireFault(judgeFault(error))
        return { status, body: text }
      }
    },
    async versions(above = 0) {
      return Number(await calls.post({ kind: 'versions', space, above }))
    },
    async putPairs(pairs) {
      requireDisk(mayWrite)
      await calls.post({ kind: 'putPairs', space, pairs })
    },
    tidy,
    snapshot: snapshots.open,
    async usage() {
      const value = await calls.post({ kind: 'usage', space })
      if (typeof value === 'object' && value !== null && 'bytes' in value) return { bytes: Number(value.bytes) }
      throw unavailable()
    },
    async close() {
      snapshots.close()
      await calls.close()
    },
  }
}

function requireDisk(mayWrite: () => boolean): void {
  if (!mayWrite()) throw new StoreError('quota_exceeded', 'The disk of the host is nearly full.')
}

function readReply(value: unknown): WireReply {
  if (typeof value === 'object' && value !== null && 'status' in value && 'body' in value) {
    const { status, body } = value
    if (typeof status === 'number' && (typeof body === 'string' || body instanceof Uint8Array)) return { status, body }
  }
  throw unavailable()
}

/**
 * Runs `page` again and again until it has deleted everything, one loop at a time. A request for it while it runs is not lost.
 * A page that fails ends it, until the next request.
 */
function createTidying(mayGoOn: () => boolean, page: () => Promise<boolean>): () => Promise<void> {
  let isRunning = false
  let again = false

  return async () => {
    again = true
    if (isRunning) return
    isRunning = true
    while (again && mayGoOn()) {
      again = false
      const more = await page().catch(() => false)
      again ||= more
    }
    isRunning = false
  }
}
