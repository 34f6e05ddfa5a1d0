import type { CounterRule, Hit } from '../model/counter.js'

/**
 * Counters of limits. A counter is a row with two fixed windows, each beginning with its first hit: exact numbers for
 * `RateLimit` headers, one small row however many hits there are, and a full counter is told by a read alone, so that a
 * flood of refused requests writes nothing. What a fixed window lets through at its seam (twice the limit, at most) is
 * closed where it matters by the wait and the long window of account limits.
 *
 * Ids are digests of whoever is counted, at most 64 characters.
 */
export interface Counters {
  /**
   * Counts one hit if there is room for it, in at most one write. Exact under concurrency: of any number of calls at
   * once, on however many processes, as many are counted as there was room for.
   */
  hit(id: string, rule: CounterRule, now: number): Promise<Hit>

  /** Forgets what these counters have counted. */
  forget(ids: readonly string[]): Promise<void>

  /** Drops up to `count` counters that can refuse nobody any more; returns how many. */
  prune(now: number, count: number): Promise<number>
}
