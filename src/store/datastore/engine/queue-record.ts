import {
  type Fields,
  fieldsIn,
  flagIn,
  listIn,
  nullOr,
  numberIn,
  readFields,
  textIn,
  textsIn,
  WrongField,
} from '../../../lib/json-fields.js'
import type { Row } from './document.js'
import type { Journal, Write } from './journal.js'

/** The record of a queue in the store, as one text. Only the process that holds the lock writes it. */
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

/** @throws {Error} when it is no record of ours: a step that went on would undo what others wrote */
export function parseRecord(text: string | null): QueueRecord {
  if (text === null) return nothingYet
  const record = readFields(text, (fields) => ({
    turn: numberIn(fields, 'turn'),
    held: flagIn(fields, 'held'),
    journals: numberIn(fields, 'journals'),
    journal: nullOr(fields, 'journal', journalIn),
    replayed: textsIn(fields, 'replayed'),
    clockMs: numberIn(fields, 'clockMs'),
  }))
  if (!record) throw new Error('database: the record of a queue cannot be read.')
  return record
}

function journalIn(fields: Fields, name: string): Journal {
  const journal = fieldsIn(fields, name)
  return { id: textIn(journal, 'id'), writes: listIn(journal, 'writes', toWrite) }
}

function toWrite(fields: Fields): Write {
  return {
    collection: textIn(fields, 'collection'),
    key: textIn(fields, 'key'),
    ids: textsIn(fields, 'ids'),
    row: nullOr(fields, 'row', rowIn),
    ...(fields.last === true && { last: true }),
  }
}

function rowIn(fields: Fields, name: string): Row {
  const columns = Object.entries(fieldsIn(fields, name)).map(([column, value]): [string, Row[string]] => {
    if (typeof value === 'string' || typeof value === 'number' || value === null) return [column, value]
    throw new WrongField(name, 'a row')
  })
  return Object.fromEntries(columns)
}

/** How many are remembered: those who wait to hear of theirs ask within seconds. */
const remembered = 20

/** The record once its journal has been made whole by a later turn. */
export function afterReplay(record: QueueRecord, turn: number): QueueRecord {
  if (!record.journal) return record
  const replayed = [...record.replayed, record.journal.id].slice(-remembered)
  return { ...record, turn, held: true, journal: null, replayed }
}
