import { AuthError } from '../../../errors.js'
import { memberOf } from '../../../lib/members.js'

/** How a step waits before its next try without blocking the event loop. */
export interface Waiting {
  sleep(milliseconds: number): Promise<void>
  /** 0 ≤ n < 1 */
  random(): number
  /** Further errors that allow a retry, besides those that have undone the whole step. */
  mayTryAgain?(error: unknown): boolean
}

/** How long a step is tried again before the store counts as unavailable. */
export const stepPatienceMs = 2_000

const firstPauseMs = 10
const longestPauseMs = 50

/**
 * Retries a whole step while the database reports a conflict with another one: busy, deadlock, serialization failure. Each of
 * these errors has rolled the step back, so a retry is safe.
 *
 * The sum of the pauses is limited, not the elapsed time, so that a suspended machine does not end the retries.
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
    // Half fixed, half random, so that steps that collided once do not collide again.
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

/** A statement for many calls was cancelled because other transactions had locked its rows. It has changed nothing. */
class HeldUp extends Error {}

/** PostgreSQL: lock_not_available; query_canceled, when several waits add up to `statement_timeout`. */
const givenUp: readonly unknown[] = ['55P03', '57014']

/** Runs a statement that `sharers` calls share. With more than one, it is not retried as a whole while a row is locked. */
export async function untilHeldUp<T>(sharers: number, statement: Promise<T>): Promise<T> {
  try {
    return await statement
  } catch (error) {
    const divides = sharers > 1 && givenUp.includes(memberOf(error, 'code'))
    throw divides ? new HeldUp('a row is held', { cause: error }) : error
  }
}

/** Whether `untilHeldUp` ended the step, so that each of the calls may be tried alone. */
export function wasHeldUp(error: unknown): boolean {
  return error instanceof AuthError && error.cause instanceof HeldUp
}

function lostTheRace(error: unknown): boolean {
  return isBusy(error) || conflicts.includes(memberOf(error, 'code'))
}

/** The server's wait for a lock counts as a pause. It takes seconds, so few such retries fit. */
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
