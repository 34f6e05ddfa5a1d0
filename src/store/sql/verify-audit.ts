import type { AuditVerdict } from '../audit.js'
import { toEnds } from '../audit-ends.js'
import { type Snapshot, verifyAudit } from '../verify-audit.js'
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

/** In one statement, so that its parts are of one moment; null when somebody has taken the head away. */
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
