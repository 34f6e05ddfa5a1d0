import type { StoreErrorCode } from '../documents/store-error.js'
import type { WireCall } from '../documents/wire.js'
import type { KeyName, ScanOptions, StoredPair } from '../ports.js'

/** Where a generation is kept: in a file of its own, or in a schema of a PostgreSQL database. */
export type StoragePlace =
  | { /** An absolute path. Its folder exists. */ file: string }
  | { /** May hold a password. */ url: string; schema: string }

/** A space as a thread opens it. */
export type OpenPlace = StoragePlace & SpaceLimits

export interface SpaceLimits {
  /** `limits.space`. The write-ahead log of a file counts. */
  quotaBytes: number
  /** `limits.document`. Also of a value under a key. */
  documentBytes: number
  /** `limits.depth`: levels of a document. */
  depth: number
  /** `limits.indexes`: those of a collection. */
  indexes: number
}

/** What is read from a snapshot. */
export type SnapshotRead =
  | { verb: 'list' }
  | { verb: 'scan'; collection: string; options: ScanOptions }
  | { verb: 'pairs'; after: KeyName | null }

/** A request to a thread. `space` is the number that the front gave to an opened file, `snapshot` one within it; `nowMs` is Unix milliseconds. */
export type ThreadRequest =
  | { kind: 'open'; space: number; place: OpenPlace }
  | { kind: 'close'; space: number }
  | { kind: 'usage'; space: number }
  | { kind: 'versions'; space: number; above: number }
  | { kind: 'putPairs'; space: number; pairs: readonly StoredPair[] }
  | { kind: 'beginSnapshot'; space: number; snapshot: number; nowMs: number }
  | { kind: 'readSnapshot'; space: number; snapshot: number; read: SnapshotRead }
  | { kind: 'endSnapshot'; space: number; snapshot: number }
  | { kind: 'tidy'; space: number; nowMs: number }
  | { kind: 'call'; space: number; nowMs: number; call: WireCall; input: readonly unknown[] }
  | { kind: 'answer'; space: number; nowMs: number; call: WireCall; body: string | Uint8Array<ArrayBuffer> }

export interface NumberedRequest {
  id: number
  request: ThreadRequest
}

/** A status and a text, which is UTF-8 bytes where it is long. */
export interface WireReply {
  status: number
  body: string | Uint8Array
}

export interface ThreadReply {
  id: number
  value?: unknown
  fault?: { code: StoreErrorCode; message: string }
  /** For the log of the host: what failed. */
  reason?: string
}
