import type { Connection } from './connection.js'
import { apply } from './journal.js'
import { afterReplay, parseRecord, type QueueRecord } from './queue-record.js'

/** Time limits, in milliseconds. */
export interface Timing {
  /** The holder writes nothing later than this after it asked for the lock. */
  holdMs: number
  /** When this time has passed since a process first saw the lock, it may take the lock over; longer than `holdMs`. */
  leaseMs: number
  /** How long to wait for the lock; longer than `leaseMs`, so that a waiter outlives the lock of a dead process. */
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

/** The lock of a queue: the right to write, for one process at a time. */
export interface LockHold {
  number: number
  record: QueueRecord
  /** Whether it is too late to write. */
  isOver(): boolean
}

/** Takes the lock of one queue, once at a time in this process. */
export interface Lock {
  /** @throws {Error} when the lock did not become free in time */
  take(): Promise<LockHold>
  /** Writes the record of a lock that is still held, or that is released when it is not `held`. */
  write(hold: LockHold, record: Partial<QueueRecord>): Promise<void>
  read(): Promise<QueueRecord>
  /** Leaves the lock as it is, because a call of its holder may still be under way. It ends for all when its lease ends. */
  abandon(hold: LockHold): void
}

/** How many old keys are kept. No process asks so late for a lock that it needs an older key. */
const keptNumbers = 1_000
const sweepEvery = 100

/**
 * Locks are numbered, and each number is granted once: `incr` of its key returns 1 to exactly one process. A process may ask
 * for the next number when the record says that the previous lock was released, or when it has seen the same lock for
 * `leaseMs`: then the holder is dead, or too late to write. Wall clocks play no part. The new holder first finishes what a
 * dead holder had decided.
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

/** What this process knows about the lock of a queue. */
interface Book extends LockOptions {
  recordKey: string
  /** The newest number that is known to be granted, and since when. */
  seen: { number: number; atMs: number }
  /** A record was seen. Records are never deleted. */
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
  // This late, the key may have been deleted and created again.
  if (!granted || monotonic() - readMs > timing.holdMs) return null
  // Read again, because the previous holder may have written in between.
  const record = await read(book)
  if (record.turn >= number) return null
  return { number, record, isOver: () => monotonic() - startMs > timing.holdMs }
}

/** The number to ask for now; null: the lock is held. */
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

/** @throws {Error} when the record is gone: a failing host may report it missing, and a second lock would begin beside it */
async function read(book: Book): Promise<QueueRecord> {
  const text = await book.connection.getText(book.recordKey)
  if (text === null && book.recorded) throw new Error('The record of the queue cannot be read.')
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
  if (hold.isOver()) throw new Error('The Datastore was too slow to finish the writes of a step.')
  // Recorded before any other write: a second replay would undo the later writes.
  await write(book, hold, afterReplay(hold.record, hold.number))
}

function sweep({ connection, recordKey }: Book, number: number): void {
  if (number % sweepEvery !== 0 || number <= keptNumbers) return
  const last = number - keptNumbers
  for (let old = last - sweepEvery + 1; old <= last; old += 1) {
    connection.deleteKey(`${recordKey}:${old}`).catch(() => {})
  }
}
