import { readJson } from '../../rows.js'
import type { Journal } from './journal.js'

/** What stands in the store of a lane, as one text. Written only by whoever has the turn. */
export interface QueueRecord {
  /** The newest turn that wrote here. */
  turn: number
  /** That turn is not over yet. */
  held: boolean
  /** How many journals there have been: readers compare it before and after. */
  journals: number
  /** Of a step that is decided and maybe not made whole yet. */
  journal: Journal | null
  /** Ids of the newest journals that were made whole by a later turn. */
  replayed: readonly string[]
  /** No change row was written later than that, by any process's clock. Unix milliseconds. */
  clockMs: number
}

const nothingYet: QueueRecord = { turn: 0, held: false, journals: 0, journal: null, replayed: [], clockMs: 0 }

export function parseRecord(text: string | null): QueueRecord {
  return text === null ? nothingYet : readJson(text)
}

/** How many are remembered: those who wait to hear of theirs ask within seconds. */
const remembered = 20

/** The record once its journal has been made whole by a later turn. */
export function afterReplay(record: QueueRecord, turn: number): QueueRecord {
  if (!record.journal) return record
  const replayed = [...record.replayed, record.journal.id].slice(-remembered)
  return { ...record, turn, held: true, journal: null, replayed }
}
