import type { StoredPair } from '../ports.js'
import type { SpacePorts } from './calls.js'
import type { SnapshotRead } from './messages.js'

/** The data of one generation of a space, as a thread has it open. */
export interface OpenedData extends SpacePorts {
  snapshots: OpenSnapshots
  /** The last version, from now on `above` at least. */
  versions(above: number): Promise<number>
  /** In one transaction. */
  putPairs(pairs: readonly StoredPair[]): Promise<void>
  /** The bytes that count against the quota. */
  usedBytes(): Promise<number>
  /** Deletes a page of what has expired or was dropped. Returns whether there is more. `nowMs` is Unix milliseconds. */
  tidy(nowMs: number): Promise<boolean>
  close(): Promise<void>
}

/** The snapshots of one space. The front counts them and ends them. */
export interface OpenSnapshots {
  /** `nowMs`, Unix milliseconds, decides which pairs have expired, where the store has no clock. */
  begin(snapshot: number, nowMs: number): Promise<void>
  /** @throws {StoreError} `store_unavailable` for one that has ended */
  read(snapshot: number, read: SnapshotRead): Promise<unknown>
  end(snapshot: number): Promise<void>
  close(): Promise<void>
}
