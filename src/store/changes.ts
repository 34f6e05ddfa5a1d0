import type { Change } from '../model/change.js'
import { type ChangesTable, toNumber } from './rows.js'

export interface ChangePage {
  changes: Change[]
  /** Milliseconds of the store's clock when the read began. */
  storeNowMs: number
  /** The newest `atMs` in the whole feed; null while it is empty. A lower value than before means the store was restored. */
  headMs: number | null
}

/** The change feed as its reader sees it. Rows are written by the verbs that change something. */
export interface Changes {
  /** Rows of the last `windowMs` milliseconds by the store's clock. */
  recent(windowMs: number): Promise<ChangePage>

  /** All rows that still matter at `now` (Unix seconds). */
  current(now: number): Promise<ChangePage>

  /**
   * Removes up to `count` rows that no longer matter and are older than the longest window of a reader. The newest row
   * stays, so that the head does not go back. Returns how many.
   */
  prune(now: number, count: number): Promise<number>
}

/** Longer than any window in which rows are read again. Younger rows stay, even if they no longer matter. */
export const keptMs = 600_000

export function toChange(row: ChangesTable): Change {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    kind: row.kind,
    subject: row.subject,
    version: toNumber(row.version),
    until: Number(row.matters_until),
  }
}
