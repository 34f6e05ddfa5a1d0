import type { AuditVerdict } from '../../model/audit-event.js'
import { toEnds } from '../audit/ends.js'
import { type Snapshot, verifyAudit } from '../audit/verify.js'
import type { Steps } from './engine/steps.js'

export function verifySqlAudit(steps: Steps): Promise<AuditVerdict> {
  return verifyAudit({
    seal: steps.seal,
    snapshot: () => readSnapshot(steps),
    page: (after, newest, count) =>
      steps.step((db) => {
        let query = db.selectFrom('latchkey_audit').selectAll().where('seq', '<=', newest)
        if (after !== null) query = query.where('seq', '>', after)
        return query.orderBy('seq').limit(count).execute()
      }),
  })
}

/** One statement, so that all parts show the same moment; null if the head was deleted. */
function readSnapshot({ step, seal }: Steps): Promise<Snapshot | null> {
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
