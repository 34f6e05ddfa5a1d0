import type { CounterHit, CounterRule, Hit } from '../model/counter.js'

/**
 * Counters of limits. A counter is a row with two fixed windows, each beginning with its first hit. That gives exact numbers
 * for `RateLimit` headers, and one small row for any number of hits. A full counter is recognised by a read alone, so a
 * flood of refused requests writes nothing. A fixed window allows twice the limit at most where two windows meet. For
 * accounts, the wait and the long window of the limits close that gap.
 *
 * Ids are digests, at most 64 characters. Counters that are counted together share the text before the first dot.
 */
export interface Counters {
  /**
   * Counts one hit if there is room for it, in at most one write. Exact under concurrency: of any number of calls at once,
   * in any number of processes, exactly as many are counted as there was room for.
   */
  hit(id: string, rule: CounterRule, now: number): Promise<Hit>

  /**
   * Counts one hit in each of these counters, or in none: a hit that one of them refuses fills none. As exact under
   * concurrency as `hit`.
   *
   * @returns null when it was counted; otherwise the time when all of them have room again, in Unix seconds
   */
  hitTogether(hits: readonly CounterHit[], now: number): Promise<number | null>

  /** Forgets what these counters have counted. */
  forget(ids: readonly string[]): Promise<void>

  /** Drops up to `count` counters that can no longer refuse a request; returns how many. */
  prune(now: number, count: number): Promise<number>
}
