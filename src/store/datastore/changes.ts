import type { ChangePage, Changes } from '../changes.js'
import { keptMs, toChange } from '../changes.js'
import { changes } from '../tables.js'
import type { View } from '../unit.js'
import type { Steps } from './engine/steps.js'

/**
 * The feed by the clocks of the processes, as a Datastore has none. Steps are made one after another, and the rows of each
 * are later than any before, so that none commits late or out of order: whatever the clocks say, everything after the head
 * that a reader saw last is new to it.
 */
export function createChanges(steps: Steps): Changes {
  /** What the last good read found, 0 for an empty feed; null before the first. */
  let lastHeadMs: number | null = null

  /** Only of what is handed out: a read that met a step is made again, and must find its rows once more. */
  function seen(page: ChangePage): ChangePage {
    lastHeadMs = page.headMs ?? 0
    return page
  }

  return {
    async recent(windowMs) {
      const page = await steps.read(async (view) => {
        const headMs = await readHead(view)
        const storeNowMs = nowMs(steps, headMs)
        const since = Math.min(storeNowMs - windowMs, lastHeadMs ?? storeNowMs)
        const rows = await view.find(changes, { at_ms: { gt: since } })
        return { storeNowMs, headMs, changes: rows.map(toChange) }
      })
      return seen(page)
    },

    async current(now) {
      const page = await steps.read(async (view) => {
        const headMs = await readHead(view)
        const rows = await view.find(changes, { matters_until: { gte: now } })
        return { storeNowMs: nowMs(steps, headMs), headMs, changes: rows.map(toChange) }
      })
      return seen(page)
    },

    async prune(now, limit) {
      const headMs = await steps.glance(readHead)
      if (headMs === null) return 0
      // The newest row stays: without it the head would go back, which means to readers that the store did.
      const query = { matters_until: { lt: now }, at_ms: { lt: Math.min(headMs, nowMs(steps, headMs) - keptMs) } }
      return steps.removeDue(changes, query, { sort: { matters_until: 1 }, limit })
    },
  }
}

async function readHead(view: View): Promise<number | null> {
  const [newest] = await view.find(changes, {}, { sort: { at_ms: -1 }, limit: 1 })
  return newest?.at_ms ?? null
}

function nowMs(steps: Steps, headMs: number | null): number {
  return Math.max(steps.nowMs(), headMs ?? 0)
}
