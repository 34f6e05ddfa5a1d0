import type { Change } from '../model/change.js'
import { type ChangesTable, toNumber } from './rows.js'

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
