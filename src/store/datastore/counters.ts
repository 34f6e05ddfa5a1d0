import type { CounterRule, Hit } from '../../model/counter.js'
import { endOfFirst, expiresAt, firstHit, firstRow, fullUntil, isOver, nextHit } from '../counter-windows.js'
import type { Counters } from '../counters.js'
import type { CountersTable } from '../rows.js'
import { queueOf, type Steps } from './engine/steps.js'
import { counters } from './engine/tables.js'

/** Each counter is written in the queue of its id, beside the steps of accounts: one document, one write. */
export function createCounters(steps: Steps): Counters {
  return {
    async hit(id, rule, now) {
      const seen = await steps.glance((view) => view.get(counters, id))
      // Told by a read alone: a flood of refused requests waits for nobody.
      const refused = seen && refusal(seen, rule, now)
      if (refused) return refused
      return steps.apart(id, async (unit) => {
        const row = await unit.get(counters, id)
        if (!row) {
          unit.put(counters, firstRow(id, rule, now))
          return firstHit(rule, now)
        }
        const full = refusal(row, rule, now)
        if (full) return full
        unit.put(counters, counted(row, rule, now))
        return nextHit(row, rule, now)
      })
    },

    async forget(ids) {
      await Promise.all(ids.map((id) => dropIf(steps, [id], () => true)))
    },

    async prune(now, count) {
      const due = await steps.glance((view) =>
        view.find(counters, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit: count }),
      )
      const queues = [...new Set(due.map(({ id }) => queueOf(id)))]
      const dropped = await Promise.all(
        queues.map((queue) => {
          const ids = due.map(({ id }) => id).filter((id) => queueOf(id) === queue)
          // Asked again: a hit may have come since.
          return dropIf(steps, ids, (row) => row.expires_at <= now)
        }),
      )
      return dropped.reduce((sum, each) => sum + each, 0)
    },
  }
}

function refusal(row: CountersTable, rule: CounterRule, now: number): Hit | null {
  const full = fullUntil(row, rule, now)
  return full === null ? null : { counted: false, remaining: 0, resetsAt: full }
}

/** The row after one more hit, for which there is room. */
function counted(row: CountersTable, rule: CounterRule, now: number): CountersTable {
  return { ...row, ...countedShort(row, rule, now), ...countedLong(row, rule, now), expires_at: expiresAt(rule, now) }
}

function countedShort(row: CountersTable, rule: CounterRule, now: number): Pick<CountersTable, 'hits' | 'ends_at'> {
  if (isOver(row.ends_at, now)) return { hits: 1, ends_at: endOfFirst(rule, now) }
  const hits = row.hits + 1
  const waits = rule.waitSeconds !== undefined && hits >= rule.limit
  return { hits, ends_at: waits ? now + (rule.waitSeconds ?? 0) : row.ends_at }
}

function countedLong(row: CountersTable, { long }: CounterRule, now: number): Partial<CountersTable> {
  if (!long) return {}
  if (isOver(row.long_ends_at, now)) return { long_hits: 1, long_ends_at: now + long.windowSeconds }
  return { long_hits: row.long_hits + 1 }
}

/** Counters of one queue. */
async function dropIf(
  steps: Steps,
  ids: readonly string[],
  condition: (row: CountersTable) => boolean,
): Promise<number> {
  const [name] = ids
  if (name === undefined) return 0
  return steps.apart(name, async (unit) => {
    const rows = await Promise.all(ids.map((id) => unit.get(counters, id)))
    const due = rows.filter((row) => row !== null).filter(condition)
    unit.remove(counters, due)
    return due.length
  })
}
