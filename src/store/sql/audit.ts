import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditLog } from '../audit.js'
import { append } from '../audit-ends.js'
import { toEvent } from '../audit-rows.js'
import { lockEnds, writeEnds } from './audit-ends.js'
import type { Steps, Unit } from './engine/steps.js'
import { pruneAudit } from './prune-audit.js'
import { verifySqlAudit } from './verify-audit.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.transaction((unit) => writeAudit(unit, event)),

    list: ({ userId, event, actorId, after, limit }) =>
      steps.step(async (db) => {
        let query = db.selectFrom('latchkey_audit').selectAll()
        if (userId !== undefined) query = query.where('user_id', '=', userId)
        if (actorId !== undefined) query = query.where('actor_id', '=', actorId)
        if (event !== undefined) query = query.where((eb) => eb(eb.ref('event').$castTo<string>(), '=', event))
        if (after !== undefined) {
          query = query.where('seq', '<', (eb) =>
            eb.selectFrom('latchkey_audit as last').select('last.seq').where('last.id', '=', after),
          )
        }
        const rows = await query.orderBy('seq', 'desc').limit(limit).execute()
        return rows.map(toEvent)
      }),

    verify: () => verifySqlAudit(steps),
    prune: (beforeMs, count) => pruneAudit(steps, beforeMs, count),
  }
}

/** Writes the event in the step that it tells of, near its end: from here to the commit all other writers wait. */
export async function writeAudit(
  unit: Pick<Unit, 'db' | 'flavour' | 'seal' | 'audited'>,
  event: AuditEvent,
): Promise<void> {
  const { row, ends } = append(await lockEnds(unit), event, unit.seal)
  await unit.db.insertInto('latchkey_audit').values(row).execute()
  await writeEnds(unit, ends)
  unit.audited.push(event)
}
