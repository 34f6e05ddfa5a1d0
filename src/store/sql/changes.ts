import type { Kysely } from 'kysely'
import type { ChangePage, Changes } from '../changes.js'
import { keptMs, toChange } from '../changes.js'
import { changes } from '../tables.js'
import { type Tables, toNumber } from './engine/schema.js'
import type { Steps } from './engine/steps.js'

export function createChanges(steps: Steps): Changes {
  return {
    recent: (windowMs) =>
      steps.step(async (db) => {
        // Clock and head are read before the rows: this read or the next one finds a row that commits in between.
        const clock = await readClock(steps, db)
        const since = clock.storeNowMs - windowMs
        const rows = await db.selectFrom('latchkey_changes').selectAll().where('at_ms', '>', since).execute()
        return { ...clock, changes: rows.map(toChange) }
      }),

    current: (now) =>
      steps.step(async (db) => {
        const clock = await readClock(steps, db)
        const rows = await db.selectFrom('latchkey_changes').selectAll().where('matters_until', '>=', now).execute()
        return { ...clock, changes: rows.map(toChange) }
      }),

    async prune(now, limit) {
      const { storeNowMs, headMs } = await steps.step((db) => readClock(steps, db))
      if (headMs === null) return 0
      // The newest row stays. Without it, the head would go back, which readers take for a restored backup.
      const query = { matters_until: { lt: now }, at_ms: { lt: Math.min(headMs, storeNowMs - keptMs) } }
      return steps.removeDue(changes, query, { sort: { matters_until: 1 }, limit })
    },
  }
}

async function readClock({ flavour }: Steps, db: Kysely<Tables>): Promise<Pick<ChangePage, 'storeNowMs' | 'headMs'>> {
  const row = await db
    .selectFrom('latchkey_changes')
    .select((eb) => [flavour.storeNowMs().as('store_now_ms'), eb.fn.max('at_ms').as('head_ms')])
    .executeTakeFirstOrThrow()
  return { storeNowMs: Number(row.store_now_ms), headMs: toNumber(row.head_ms) }
}
