import { memberOf } from '../../lib/members.js'
import { sqliteCodeOf } from '../../store/sql/engine/retry.js'
import { queryInvalid, StoreError, type StoreErrorCode } from '../documents/store-error.js'
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

/** PostgreSQL: disk_full. */
const full = '53100'
/** invalid_text_representation, character_not_in_repertoire, untranslatable_character: only a body can be the cause. */
const notJson: readonly unknown[] = ['22P02', '22021', '22P05']

/** What an error of the thread means for the caller. Of other errors than `StoreError` the caller learns nothing. */
export function judgeFault(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const code = sqliteCodeOf(error)
  if (code === 'FULL') return new StoreError('quota_exceeded', 'The disk of the host is full.', error)
  const postgres = memberOf(error, 'code')
  if (postgres === full) return new StoreError('quota_exceeded', 'The disk of the database server is full.', error)
  // The only constraint that a checked call can meet.
  if (code === 'CONSTRAINT' || notJson.includes(postgres)) return queryInvalid('The document is no valid JSON.', error)
  return unavailable(error)
}

export function unavailable(cause?: unknown): StoreError {
  return new StoreError('store_unavailable', 'The data of this space cannot be reached. Try again shortly.', cause)
}

/** For the log of the host: an error's code or class, because a message may quote what was written. null: no fault of ours. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof StoreError || notJson.includes(memberOf(error, 'code'))) return null
  const code = sqliteCodeOf(error)
  if (code !== null) return code === 'CONSTRAINT' ? null : `SQLITE_${code}`
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
