import { remoteDocuments, remoteIndexes, remoteKeyValues } from '../documents/remote-ports.js'
import { StoreError } from '../documents/store-error.js'
import { type WireCall, type WirePort, wireFault } from '../documents/wire.js'
import type { Documents, Indexes, KeyValues } from '../ports.js'
import { isWriting, leavesRest } from './calls.js'
import { judgeFault, unavailable } from './faults.js'
import type { OpenPlace, WireReply } from './messages.js'
import { createSpaceCalls } from './space-calls.js'
import type { ThreadLink } from './thread-link.js'
import { createTidying } from './tidying.js'

/** The data of one space, in one generation. Each call rejects with a `StoreError`. */
export interface SpaceData {
  documents: Documents
  indexes: Indexes
  keyValues: KeyValues
  /** A call of the wire with its arguments as JSON. The thread reads them. Never rejects. */
  answer(call: WireCall, body: string | Uint8Array<ArrayBuffer>): Promise<WireReply>
  /** Bytes on the disk: pages in use, and the write-ahead log. */
  usage(): Promise<{ bytes: number }>
  /** Runs what waits, then closes the file. Later calls reject with `store_unavailable`. */
  close(): Promise<void>
}

export interface OpenedSpace extends SpaceData {
  /** Deletes expired pairs, dropped collections and removed indexes, page by page. Never rejects. */
  tidy(): Promise<void>
}

export interface SpaceWorld {
  /** Unix milliseconds. */
  now(): number
  /** Whether spaces may write: false below the mark of a low disk. */
  mayWrite(): boolean
}

/** @throws {StoreError} `store_unavailable` when the file cannot be opened or migrated */
export async function openSpace(
  link: ThreadLink,
  space: number,
  place: OpenPlace,
  { now, mayWrite }: SpaceWorld,
): Promise<OpenedSpace> {
  const calls = createSpaceCalls(link, space, place)
  const tidyPage = async () => (await calls.post({ kind: 'tidy', space, nowMs: now() })) === true
  const tidy = createTidying(mayWrite, tidyPage)

  async function checked<T>(call: WireCall, run: () => Promise<T>): Promise<T> {
    if (isWriting(call) && !mayWrite()) throw new StoreError('quota_exceeded', 'The disk of the host is nearly full.')
    try {
      return await run()
    } finally {
      if (leavesRest(call)) void tidy()
    }
  }

  const call = (port: WirePort, verb: string, ...input: readonly unknown[]) =>
    checked({ port, verb }, () => calls.post({ kind: 'call', space, nowMs: now(), call: { port, verb }, input }))

  await calls.open()
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
    tidy,
    async usage() {
      const value = await calls.post({ kind: 'usage', space })
      if (typeof value === 'object' && value !== null && 'bytes' in value) return { bytes: Number(value.bytes) }
      throw unavailable()
    },
    close: calls.close,
  }
}

function readReply(value: unknown): WireReply {
  if (typeof value === 'object' && value !== null && 'status' in value && 'body' in value) {
    const { status, body } = value
    if (typeof status === 'number' && (typeof body === 'string' || body instanceof Uint8Array)) return { status, body }
  }
  throw unavailable()
}
