import type { World } from './runtime.js'

/**
 * How far the wall clock may be from the store's before it counts as wrong. It is more than NTP leaves on a sound machine,
 * and well below the margin for which revocations are kept after the tokens that they end.
 */
const toleranceMs = 30_000

/** What both clocks showed. */
export interface Reading {
  readonly wallMs: number
  readonly monotonicMs: number
}

/** One reading of the clocks for a whole request, because each reading costs as much as finding a token. */
export interface Moment extends Reading {
  /** Unix seconds, as `now` tells them. */
  readonly now: number
}

export interface SharedClock {
  /** Unix seconds for rows, tokens and the audit log: the wall clock, or the store's where the two differ too much. */
  now(): number
  /** The same in milliseconds. */
  nowMs(): number
  /** Wall clock, Unix milliseconds, as it is. */
  wallMs(): number
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number
  /** All of these, read once. */
  moment(): Moment
  /** Reports what the store's clock showed a moment ago, Unix milliseconds. */
  learn(storeNowMs: number): void
}

/**
 * The time that all processes on one store share. Without it, a process whose wall clock jumps would sign tokens that
 * outlive the record of their session's end, and write ends that are forgotten before the tokens expire.
 *
 * A test clock is never corrected. A store without a clock of its own cannot correct either: it shows the clock of the
 * process that wrote last.
 */
export function createSharedClock(
  world: Pick<World, 'now' | 'monotonic' | 'testing'>,
  storeHasClock = true,
): SharedClock {
  const corrected = storeHasClock && !world.testing
  let aheadMs = 0
  const nowMs = () => world.now() - aheadMs
  return {
    now: () => Math.floor(nowMs() / 1000),
    nowMs,
    wallMs: world.now,
    monotonicMs: world.monotonic,
    moment() {
      const wallMs = world.now()
      return { now: Math.floor((wallMs - aheadMs) / 1000), wallMs, monotonicMs: world.monotonic() }
    },
    learn(storeNowMs) {
      const difference = world.now() - storeNowMs
      aheadMs = corrected && Math.abs(difference) > toleranceMs ? difference : 0
    },
  }
}
