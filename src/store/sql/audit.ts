import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditLog } from '../audit.js'
import { lockEnds, writeEnds } from './audit-ends.js'
import { toAuditRow, toEvent } from './audit-rows.js'
import { pruneAudit } from './prune-audit.js'
import type { Steps, Unit } from './steps.js'
import { verifyAudit } from './verify-audit.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.transaction((unit) => writeAudit(unit, event)),

    list: ({ userId, event, after, limit }) =>
      steps.step(async (db) => {
        let query = db.selectFrom('latchkey_audit').selectAll()
        if (userId !== undefined) query = query.where('user_id', '=', userId)
        if (event !== undefined) query = query.where((eb) => eb(eb.ref('event').$castTo<string>(), '=', event))
        if (after !== undefined) {
          query = query.where('seq', '<', (eb) =>
            eb.selectFrom('latchkey_audit as last').select('last.seq').where('last.id', '=', after),
          )
        }
        const rows = await query.orderBy('seq', 'desc').limit(limit).execute()
        return rows.map(toEvent)
      }),

    verify: () => verifyAudit(steps),
    prune: (beforeMs, count) => pruneAudit(steps, beforeMs, count),
  }
}

/** Upon a head that is not as its last writer left it nothing is built: no hash fits after this place. */
const nowhere = ''

/** Writes the event in the step that it tells of, near its end: from here to the commit all other writers wait. */
export async function writeAudit(
  unit: Pick<Unit, 'db' | 'flavour' | 'seal' | 'audited'>,
  event: AuditEvent,
): Promise<void> {
  const { head, floor } = await lockEnds(unit)
  const row = toAuditRow(event, head.sound ? head : { seq: head.seq, hash: nowhere }, unit.seal)
  await unit.db.insertInto('latchkey_audit').values(row).execute()
  await writeEnds(unit, { head: { seq: row.seq, hash: row.hash, sound: true }, floor })
  unit.audited.push(event)
}
