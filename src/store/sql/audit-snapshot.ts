import { toEnds } from '../audit/ends.js'
import type { Snapshot } from '../audit/verify.js'
import type { Steps } from './engine/steps.js'

/** One statement, so that all parts show the same moment; null if the head was deleted. */
export function readSnapshot({ step, seal }: Steps): Promise<Snapshot | null> {
  return step(async (db) => {
    const row = await db
      .selectFrom('latchkey_audit_head')
      .selectAll()
      .select((eb) =>
        eb
          .selectFrom('latchkey_audit')
          .select((of) => of.fn.max('seq').as('seq'))
          .as('newest'),
      )
      .executeTakeFirst()
    return row ? { ...toEnds(row, seal), newest: Number(row.newest ?? row.seq) } : null
  })
}
