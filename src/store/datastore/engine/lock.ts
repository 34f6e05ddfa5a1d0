import type { Connection } from './connection.js'
import { apply } from './journal.js'
import { afterReplay, parseRecord, type QueueRecord } from './queue-record.js'

/** How long things may take, in milliseconds. */
export interface Timing {
  /** Nothing is written later than this after a turn was asked for. */
  holdMs: number
  /** From its first sight on, a turn that is not over by then is another's to take; longer than `holdMs`. */
  leaseMs: number
  /** How long somebody waits for a turn; longer than `leaseMs`, so that the turn of a dead process is outlived. */
  patienceMs: number
  /** How long one call of the platform may take. */
  callMs: number
}

export interface LockOptions {
  connection: Connection
  timing: Timing
  /** Never goes back, milliseconds. */
  monotonic(): number
  sleep(milliseconds: number): Promise<void>
  /** 0 ≤ n < 1 */
  random(): number
}

/** The right to write in a lane, of all processes. */
export interface LockHold {
  number: number
  record: QueueRecord
  /** Whether it is too late to write. */
  isOver(): boolean
}

/** Takes turns in one lane: one at a time in this process. */
export interface Lock {
  /** @throws {Error} when the lane was not free in time */
  take(): Promise<LockHold>
  /** Writes the record of a turn that goes on, or is over when it is not `held`. */
  write(hold: LockHold, record: Partial<QueueRecord>): Promise<void>
  read(): Promise<QueueRecord>
  /** The turn is left as it is: a call of it may still be under way. It is over for everybody once its lease is. */
  abandon(hold: LockHold): void
}

/** How many old keys stay: nobody is as late as that with asking for a turn. */
const keptNumbers = 1_000
const sweepEvery = 100

/**
 * Turns are numbered, and a number is granted once: `incr` of its key answers 1 to exactly one. The next number may be
 * asked for when the record says that the one before is over, or when it was seen `leaseMs` ago and is not: then its holder
 * is dead, or too late to write. Nobody's wall clock counts. What a dead holder had decided is made whole first.
 */
export function createLock(queue: string, options: LockOptions): Lock {
  const book: Book = { ...options, recordKey: `lane:${queue}`, seen: { number: 0, atMs: 0 }, recorded: false }
  return {
    take: () => take(book),
    write: (hold, record) => write(book, hold, record),
    read: () => read(book),
    abandon: ({ number }) => {
      if (number >= book.seen.number) book.seen = { number, atMs: book.monotonic() }
    },
  }
}

/** What this process knows of a lane. */
interface Book extends LockOptions {
  recordKey: string
  /** The newest number that is known to be granted, and since when. */
  seen: { number: number; atMs: number }
  /** It has met a record, and nobody ever takes one away. */
  recorded: boolean
}

async function take(book: Book): Promise<LockHold> {
  const { timing, monotonic, sleep, random } = book
  const startMs = monotonic()
  for (;;) {
    const hold = await ask(book)
    if (hold) {
      await recover(book, hold)
      sweep(book, hold.number)
      return hold
    }
    if (monotonic() - startMs >= timing.patienceMs) throw new Error('The Datastore was busy for too long.')
    await sleep(5 + random() * 15)
  }
}

async function ask(book: Book): Promise<LockHold | null> {
  const { connection, timing, monotonic, recordKey } = book
  const readMs = monotonic()
  const number = nextNumber(book, await read(book))
  if (number === null) return null
  const startMs = monotonic()
  const granted = (await connection.increment(`${recordKey}:${number}`)) === 1
  notice(book, number)
  // So late, the key may be a new one under an old name.
  if (!granted || monotonic() - readMs > timing.holdMs) return null
  // Read again: whoever had the turn before may have written in between.
  const record = await read(book)
  if (record.turn >= number) return null
  return { number, record, isOver: () => monotonic() - startMs > timing.holdMs }
}

/** The number that may be asked for now; null: somebody has the turn. */
function nextNumber(book: Book, { turn, held }: QueueRecord): number | null {
  if (held) notice(book, turn)
  const { seen, monotonic, timing } = book
  const newest = Math.max(turn, seen.number)
  if (newest === turn && !held) return newest + 1
  return newest === seen.number && monotonic() - seen.atMs >= timing.leaseMs ? newest + 1 : null
}

function notice(book: Book, number: number): void {
  if (number > book.seen.number) book.seen = { number, atMs: book.monotonic() }
}

/** @throws {Error} when it is gone: hosts that fail may sound as if there were none, and whoever began anew would be a second one */
async function read(book: Book): Promise<QueueRecord> {
  const text = await book.connection.getText(book.recordKey)
  if (text === null && book.recorded) throw new Error('The record of the lane cannot be read.')
  book.recorded ||= text !== null
  return parseRecord(text)
}

async function write({ connection, recordKey }: Book, hold: LockHold, record: Partial<QueueRecord>): Promise<void> {
  const next = { ...hold.record, turn: hold.number, ...record }
  await connection.setText(recordKey, JSON.stringify(next))
  hold.record = next
}

async function recover(book: Book, hold: LockHold): Promise<void> {
  if (!hold.record.journal) return
  await apply(book.connection, hold.record.journal, true)
  if (hold.isOver()) throw new Error('The Datastore was too slow to make a step whole.')
  // Kept before anything else is written: made whole once more, it would undo what comes now.
  await write(book, hold, afterReplay(hold.record, hold.number))
}

function sweep({ connection, recordKey }: Book, number: number): void {
  if (number % sweepEvery !== 0 || number <= keptNumbers) return
  const last = number - keptNumbers
  for (let old = last - sweepEvery + 1; old <= last; old += 1) {
    connection.deleteKey(`${recordKey}:${old}`).catch(() => {})
  }
}
