import type { Kysely } from 'kysely'
import type { Change } from '../../model/change.js'
import { keptMs, toChange } from '../change-rows.js'
import type { ChangePage, Changes } from '../changes.js'
import { Refused } from '../refused.js'
import { parts } from './engine/parts.js'
import { type Tables, toNumber } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { prune } from './prune.js'

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

    prune: (now, count) =>
      prune(steps, 'latchkey_changes', async (db) => {
        const { headMs } = await readClock(steps, db)
        if (headMs === null) return []
        // The newest row stays. Without it, the head would go back, which readers take for a restored backup.
        return db
          .selectFrom('latchkey_changes')
          .select('id')
          .where('matters_until', '<', now)
          .where('at_ms', '<', headMs)
          .where('at_ms', '<', steps.flavour.storeNowMs(-keptMs))
          .orderBy('matters_until')
          .limit(count)
          .execute()
      }),
  }
}

async function readClock({ flavour }: Steps, db: Kysely<Tables>): Promise<Pick<ChangePage, 'storeNowMs' | 'headMs'>> {
  const row = await db
    .selectFrom('latchkey_changes')
    .select((eb) => [flavour.storeNowMs().as('store_now_ms'), eb.fn.max('at_ms').as('head_ms')])
    .executeTakeFirstOrThrow()
  return { storeNowMs: Number(row.store_now_ms), headMs: toNumber(row.head_ms) }
}

/**
 * Writes one row for each subject, dated by the store's clock at the insert. It must be the last write of its transaction,
 * so that the row is as young as possible at the commit. This process gets the changes after the commit.
 *
 * @throws {Refused} for an id that ends with a blank: MySQL finds the row without the blank (PAD SPACE), but no process would
 * match a change row that names the id with it
 */
export async function writeChanges(
  unit: Unit,
  kind: Change['kind'],
  subjects: readonly string[],
  until: number,
  version: number | null = null,
): Promise<void> {
  if (subjects.some((subject) => subject.endsWith(' '))) throw new Refused()
  const atMs = unit.flavour.storeNowMs()
  const inserts = subjects.map((subject) => ({
    id: unit.randomId(),
    at_ms: atMs,
    kind,
    subject,
    version,
    matters_until: until,
  }))
  for (const part of parts(inserts)) {
    await unit.db.insertInto('latchkey_changes').values(part).execute()
    const ids = part.map(({ id }) => id)
    const rows = await unit.db.selectFrom('latchkey_changes').selectAll().where('id', 'in', ids).execute()
    unit.changes.push(...rows.map(toChange))
  }
}
