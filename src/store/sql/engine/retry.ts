import { AuthError } from '../../../errors.js'
import { memberOf } from '../../../lib/members.js'

/** How a step waits for its turn without blocking the event loop. */
export interface Waiting {
  sleep(milliseconds: number): Promise<void>
  /** 0 ≤ n < 1 */
  random(): number
  /** Beyond what has undone the whole step, which is always tried again. */
  mayTryAgain?(error: unknown): boolean
}

/** How long a step is tried again before the store counts as unavailable. */
export const stepPatienceMs = 2_000

const firstPauseMs = 10
const longestPauseMs = 50

/**
 * Runs a whole step again while the database says that it lost against another one: busy, deadlock, serialization
 * failure. Every one of them has undone the step, so that trying again is safe.
 *
 * The pauses are counted, not the clock: a suspended machine does not use up the patience of a step.
 */
export async function retrying<T>(waiting: Waiting, patienceMs: number, attempt: () => Promise<T>): Promise<T> {
  let waitedMs = 0
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await attempt()
    } catch (error) {
      if (lostTheRace(error)) waitedMs += waitedInStatementMs(error)
      else if (!waiting.mayTryAgain?.(error)) throw error
      if (waitedMs >= patienceMs) throw error
    }
    // Half fixed, half random: those who collided once do not meet again.
    const chosenMs = Math.min(pauseMs * (0.5 + waiting.random() / 2), patienceMs - waitedMs)
    await waiting.sleep(chosenMs)
    waitedMs += chosenMs
  }
}

/**
 * PostgreSQL and CockroachDB: serialization_failure, deadlock_detected, lock_not_available. MySQL and MariaDB: deadlock,
 * lock wait time-out, stale snapshot.
 */
const waits: readonly unknown[] = ['55P03', 'ER_LOCK_WAIT_TIMEOUT']
const conflicts: readonly unknown[] = ['40001', '40P01', 'ER_LOCK_DEADLOCK', 'ER_CHECKREAD', ...waits]

/** A statement for many was given up because others held rows of it: nothing of it has happened. */
class HeldUp extends Error {}

/** PostgreSQL: lock_not_available; query_canceled, after as many waits as make up the longest that a statement may take. */
const givenUp: readonly unknown[] = ['55P03', '57014']

/** For a statement that so many share: beyond one, it is not tried again as a whole while a row of one of them is held. */
export async function untilHeldUp<T>(sharers: number, statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    const divides = sharers > 1 && givenUp.includes(memberOf(error, 'code'))
    throw divides ? new HeldUp('a row is held', { cause: error }) : error
  }
}

/** Whether a step ended by `untilHeldUp`, so that each of the many may be tried alone. */
export function wasHeldUp(error: unknown): boolean {
  return error instanceof AuthError && error.cause instanceof HeldUp
}

function lostTheRace(error: unknown): boolean {
  return isBusy(error) || conflicts.includes(memberOf(error, 'code'))
}

/** Whoever waited for a lock until the server gave up has used patience already: seconds, so that few such tries remain. */
function waitedInStatementMs(error: unknown): number {
  return waits.includes(memberOf(error, 'code')) ? stepPatienceMs / 2 : 0
}

/** Another connection holds the lock of this SQLite file: SQLITE_BUSY, SQLITE_LOCKED and their extended codes. */
export function isBusy(error: unknown): boolean {
  const name = sqliteCodeOf(error)
  return name === 'BUSY' || name === 'LOCKED'
}

/** A plain insert that met an existing key. */
export function isUniqueViolation(error: unknown): boolean {
  const code = memberOf(error, 'code')
  if (code === '23505' || code === 'ER_DUP_ENTRY') return true
  return sqliteCodeOf(error) === 'CONSTRAINT' && String(memberOf(error, 'message')).includes('UNIQUE constraint failed')
}

const sqliteCodes: Readonly<Record<number, string>> = {
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  19: 'CONSTRAINT',
  26: 'NOTADB',
}

/**
 * The primary result code of an SQLite error, without `SQLITE_`; null for any other error. better-sqlite3 and libsql
 * name it in `code`, node:sqlite numbers it in `errcode`, the extended part in the upper bits (sqlite.org/rescode.html).
 */
export function sqliteCodeOf(error: unknown): string | null {
  const number = memberOf(error, 'errcode')
  if (typeof number === 'number') return sqliteCodes[number & 0xff] ?? null
  const code = memberOf(error, 'code')
  if (typeof code !== 'string' || !code.startsWith('SQLITE_')) return null
  return code.split('_')[1] ?? null
}
