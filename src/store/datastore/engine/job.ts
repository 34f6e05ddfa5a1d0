import { TimedOut } from './connection.js'
import { apply, type Journal, type Write } from './journal.js'
import type { Lock, LockHold, LockOptions } from './lock.js'

/** What a step has decided: its result, and the writes for it, all or nothing. */
export interface Decision<T> {
  answer: T
  writes: readonly Write[]
  /** The newest time among its writes, if any. */
  clockMs?: number
}

/** A step in a queue. It never rejects; it reports its outcome to its caller. */
export interface Job {
  /**
   * `again`: the lock was lost before anything was written. `broken`: done, but a call may still be under way.
   * `undecided`: only a later lock holder can see whether the step was decided; until then the job stays first in the queue.
   */
  run(hold: LockHold, more: () => boolean): Promise<'done' | 'again' | 'broken' | 'undecided'>
  fail(error: unknown): void
}

export interface JobOptions extends Pick<LockOptions, 'connection' | 'sleep'> {
  lock: Lock
  randomId(): string
}

interface Waiter<T> {
  resolve(answer: T): void
  reject(error: unknown): void
}

/** How often a step is restarted when it took too long to decide. */
const beginnings = 3
/** Between two attempts to finish the writes of a decided step. */
const pauseMs = 20

/**
 * One call decides a step: its only write, or the write of its journal. Before that call, nothing has happened. After it, the
 * lock holder finishes the writes, in this process or the next one.
 */
export function createJob<T>(
  options: JobOptions,
  decide: (clockMs: number) => Promise<Decision<T>>,
  waiter: Waiter<T>,
): Job {
  let undecided: { id: string; answer: T } | null = null
  let begun = 0

  /** Reads the outcome from the record: a later lock holder has found the journal and finished its writes, or found none. */
  function settle({ id, answer }: { id: string; answer: T }, { record }: LockHold): 'done' {
    if (record.replayed.includes(id)) waiter.resolve(answer)
    else waiter.reject(new Error('The Datastore failed before the step was decided.'))
    return 'done'
  }

  async function commit(hold: LockHold, { answer, writes, clockMs = 0 }: Decision<T>, more: () => boolean) {
    const journal: Journal = { id: options.randomId(), writes }
    const journalled = writes.length > 1
    if (journalled) {
      const kept = await keepJournal(options, hold, journal, clockMs)
      if (kept === 'unknown') undecided = { id: journal.id, answer }
      if (kept === 'unknown') return 'undecided'
    }
    try {
      await insist(options, hold, journal)
    } catch (error) {
      if (!journalled) waiter.reject(error)
      else undecided = { id: journal.id, answer }
      return journalled ? 'undecided' : 'broken'
    }
    const outcome = journalled ? await forgetJournal(options, hold, more) : 'done'
    waiter.resolve(answer)
    return outcome
  }

  return {
    fail: (error) => waiter.reject(error),
    async run(hold, more) {
      if (undecided) return settle(undecided, hold)
      try {
        const decision = await decide(hold.record.clockMs)
        begun += 1
        if (decision.writes.length > 0 && hold.isOver()) {
          if (begun < beginnings) return 'again'
          throw new Error('The Datastore was too slow for a step.')
        }
        return await commit(hold, decision, more)
      } catch (error) {
        waiter.reject(error)
        return 'done'
      }
    },
  }
}

/** `unknown`: the journal may be stored, or may still arrive. @throws the platform's error when it is not stored */
async function keepJournal(
  { lock }: JobOptions,
  hold: LockHold,
  journal: Journal,
  clockMs: number,
): Promise<'kept' | 'unknown'> {
  const { record } = hold
  const next = { journal, held: true, journals: record.journals + 1, clockMs: Math.max(record.clockMs, clockMs) }
  try {
    await lock.write(hold, next)
    return 'kept'
  } catch (error) {
    if (error instanceof TimedOut) return 'unknown'
    const stored = await lock.read().catch(() => null)
    if (stored === null) return 'unknown'
    if (stored.journal?.id !== journal.id) throw error
    hold.record = stored
    return 'kept'
  }
}

/** Repeats the writes while there is time. @throws the error of the last attempt */
async function insist({ connection, sleep }: JobOptions, hold: LockHold, journal: Journal): Promise<void> {
  for (let anew = false; ; anew = true) {
    try {
      return await apply(connection, journal, anew)
    } catch (error) {
      if (error instanceof TimedOut || hold.isOver()) throw error
    }
    await sleep(pauseMs)
    if (hold.isOver()) throw new Error('The Datastore refused for too long.')
  }
}

async function forgetJournal({ lock }: JobOptions, hold: LockHold, more: () => boolean): Promise<'done' | 'broken'> {
  try {
    await lock.write(hold, { journal: null, held: more() })
    return 'done'
  } catch {
    return 'broken'
  }
}
