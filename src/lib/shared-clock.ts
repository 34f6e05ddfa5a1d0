import type { World } from './runtime.js'

/**
 * How far the wall clock may be from the store's before it counts as wrong: more than NTP leaves on a sound machine, and
 * well below the margin for which revocations are remembered beyond the tokens they end.
 */
const toleranceMs = 30_000

/** What both clocks showed. */
export interface Reading {
  readonly wallMs: number
  readonly monotonicMs: number
}

/** One look at the clocks, by which all of a request is decided: each look costs as much as finding a token. */
export interface Moment extends Reading {
  /** Unix seconds, as `now` tells them. */
  readonly now: number
}

export interface SharedClock {
  /** Unix seconds, by which rows, tokens and the audit log are dated: of the wall clock, or of the store's where the two lie apart. */
  now(): number
  /** The same in milliseconds. */
  nowMs(): number
  /** Wall clock, Unix milliseconds, as it is. */
  wallMs(): number
  /** Milliseconds of a clock that never goes back. */
  monotonicMs(): number
  /** All of these at once. */
  moment(): Moment
  /** What the store's clock showed a moment ago, Unix milliseconds. */
  learn(storeNowMs: number): void
}

/**
 * The time of all processes on one store. A process whose wall clock jumps would else sign tokens that outlive what is
 * remembered of their session's end, and write ends that are forgotten before the tokens expire.
 *
 * A test clock is not the world's, so it is never corrected; nor is any by a store that has no clock of its own: what it
 * shows is that of whoever wrote last.
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
