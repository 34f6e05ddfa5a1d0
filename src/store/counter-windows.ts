import type { CounterRule, Hit } from '../model/counter.js'
import type { CountersTable } from './rows.js'

/** The row of a counter after its very first hit. */
export function firstRow(id: string, rule: CounterRule, now: number): CountersTable {
  return {
    id,
    hits: 1,
    ends_at: endOfFirst(rule, now),
    long_hits: rule.long ? 1 : 0,
    long_ends_at: rule.long ? now + rule.long.windowSeconds : 0,
    expires_at: expiresAt(rule, now),
  }
}

/** When a full counter accepts hits again; null while there is room. */
export function fullUntil(row: CountersTable, rule: CounterRule, now: number): number | null {
  const ends: number[] = []
  if (!isOver(row.ends_at, now) && Number(row.hits) >= rule.limit) ends.push(Number(row.ends_at))
  if (rule.long && !isOver(row.long_ends_at, now) && Number(row.long_hits) >= rule.long.limit) {
    ends.push(Number(row.long_ends_at))
  }
  return ends.length === 0 ? null : Math.max(...ends)
}

/** When all full counters accept hits again; null while each has room. */
export function anyFullUntil(
  counters: readonly { row: CountersTable | null; rule: CounterRule }[],
  now: number,
): number | null {
  const ends = counters.map(({ row, rule }) => row && fullUntil(row, rule, now)).filter((end) => end !== null)
  return ends.length === 0 ? null : Math.max(...ends)
}

/** The common part of ids that are counted together. For any other counter: the id itself. */
export function counterGroup(id: string): string {
  return id.split('.', 1)[0] ?? id
}

export function firstHit(rule: CounterRule, now: number): Hit {
  return { counted: true, remaining: rule.limit - 1, resetsAt: endOfFirst(rule, now) }
}

export function nextHit(row: CountersTable, rule: CounterRule, now: number): Hit {
  if (isOver(row.ends_at, now)) return firstHit(rule, now)
  const remaining = Math.max(rule.limit - Number(row.hits) - 1, 0)
  const waits = remaining === 0 && rule.waitSeconds !== undefined
  return { counted: true, remaining, resetsAt: waits ? now + (rule.waitSeconds ?? 0) : Number(row.ends_at) }
}

/** With a limit of one hit, the first hit also fills the counter. */
export function endOfFirst({ limit, windowSeconds, waitSeconds }: CounterRule, now: number): number {
  return now + (limit === 1 ? (waitSeconds ?? windowSeconds) : windowSeconds)
}

/** Not before the end of every window that this hit may be in. */
export function expiresAt({ windowSeconds, waitSeconds = 0, long }: CounterRule, now: number): number {
  return now + Math.max(windowSeconds, waitSeconds, long?.windowSeconds ?? 0)
}

export function isOver(endsAt: number, now: number): boolean {
  return Number(endsAt) <= now
}
