import type { CounterHit, CounterRule, Hit } from '../../model/counter.js'
import {
  anyFullUntil,
  counterGroup,
  endOfFirst,
  expiresAt,
  firstHit,
  firstRow,
  fullUntil,
  isOver,
  nextHit,
} from '../counter-windows.js'
import type { Counters } from '../counters.js'
import type { CountersTable } from '../rows.js'
import { counters } from '../tables.js'
import type { View } from '../unit.js'
import { queueOf, type Steps } from './engine/steps.js'

/**
 * Counters have queues of their own, apart from those of accounts, one for each group. Counters that are counted together
 * are in one group, so one step writes them.
 */
export function createCounters(steps: Steps): Counters {
  return {
    async hit(id, rule, now) {
      const seen = await steps.glance((view) => view.get(counters, { id }))
      // A read alone recognises a full counter, so a flood of refused requests never waits in the queue.
      const refused = seen && refusal(seen, rule, now)
      if (refused) return refused
      return steps.apart(counterGroup(id), async (unit) => {
        const row = await unit.get(counters, { id })
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

    async hitTogether(hits, now) {
      const seen = await Promise.all(hits.map((hit) => steps.glance((view) => withRow(view, hit))))
      const refused = anyFullUntil(seen, now)
      if (refused !== null) return refused
      return steps.apart(counterGroup(hits[0]?.id ?? ''), async (unit) => {
        const found = await Promise.all(hits.map((hit) => withRow(unit, hit)))
        const full = anyFullUntil(found, now)
        if (full !== null) return full
        for (const { id, row, rule } of found) {
          unit.put(counters, row ? counted(row, rule, now) : firstRow(id, rule, now))
        }
        return null
      })
    },

    async forget(ids) {
      await Promise.all(ids.map((id) => dropIf(steps, [id], () => true)))
    },

    async prune(now, count) {
      const due = await steps.glance((view) =>
        view.find(counters, { expires_at: { lte: now } }, { sort: { expires_at: 1 }, limit: count }),
      )
      const queues = [...new Set(due.map(({ id }) => queueOf(counterGroup(id))))]
      const dropped = await Promise.all(
        queues.map((queue) => {
          const ids = due.map(({ id }) => id).filter((id) => queueOf(counterGroup(id)) === queue)
          // Checked again, because a hit may have come since.
          return dropIf(steps, ids, (row) => row.expires_at <= now)
        }),
      )
      return dropped.reduce((sum, each) => sum + each, 0)
    },
  }
}

async function withRow(view: Pick<View, 'get'>, hit: CounterHit): Promise<CounterHit & { row: CountersTable | null }> {
  return { ...hit, row: await view.get(counters, { id: hit.id }) }
}

function refusal(row: CountersTable, rule: CounterRule, now: number): Hit | null {
  const full = fullUntil(row, rule, now)
  return full === null ? null : { counted: false, remaining: 0, resetsAt: full }
}

/** The row after one more hit, if there is room for it. */
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

/** Drops counters of one queue. */
async function dropIf(
  steps: Steps,
  ids: readonly string[],
  condition: (row: CountersTable) => boolean,
): Promise<number> {
  const [name] = ids
  if (name === undefined) return 0
  return steps.apart(counterGroup(name), async (unit) => {
    const rows = await Promise.all(ids.map((id) => unit.get(counters, { id })))
    const due = rows.filter((row) => row !== null).filter(condition)
    unit.remove(counters, due)
    return due.length
  })
}
