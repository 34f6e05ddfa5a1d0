import type { Change } from '../../model/change.js'
import { keptMs, toChange } from '../change-rows.js'
import type { ChangePage, Changes } from '../changes.js'
import type { Steps } from './engine/steps.js'
import { changes } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'
import { removeDue } from './prune.js'

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

    prune: (now, count) =>
      // The newest row stays: without it the head would go back, which means to readers that the store did.
      removeDue(steps, changes, async (view) => {
        const headMs = await readHead(view)
        if (headMs === null) return []
        const before = Math.min(headMs, nowMs(steps, headMs) - keptMs)
        const due = { matters_until: { lt: now }, at_ms: { lt: before } }
        return view.find(changes, due, { sort: { matters_until: 1 }, limit: count })
      }),
  }
}

async function readHead(view: View): Promise<number | null> {
  const [newest] = await view.find(changes, {}, { sort: { at_ms: -1 }, limit: 1 })
  return newest?.at_ms ?? null
}

function nowMs(steps: Steps, headMs: number | null): number {
  return Math.max(steps.nowMs(), headMs ?? 0)
}

/** Writes one row for each subject. They are written once everything else of the step is. */
export function writeChanges(
  unit: Unit,
  kind: Change['kind'],
  subjects: readonly string[],
  until: number,
  version: number | null = null,
): void {
  const atMs = unit.changeMs()
  for (const subject of subjects) {
    const row = { id: unit.randomId(), at_ms: atMs, kind, subject, version, matters_until: until }
    unit.put(changes, row)
    unit.changes.push(toChange(row))
  }
}
