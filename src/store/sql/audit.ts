import type { Selectable } from 'kysely'
import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditLog } from '../audit.js'
import { type AuditTable, readJson } from './schema.js'
import type { Steps, Unit } from './steps.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.transaction((unit) => writeAudit(unit, event)),

    list: ({ userId, event, limit }) =>
      steps.step(async (db) => {
        let query = db.selectFrom('latchkey_audit').selectAll()
        if (userId !== undefined) query = query.where('user_id', '=', userId)
        if (event !== undefined) query = query.where((eb) => eb(eb.ref('event').$castTo<string>(), '=', event))
        const rows = await query.orderBy('at_ms', 'desc').orderBy('ordinal', 'desc').limit(limit).execute()
        return rows.map(toEvent)
      }),
  }
}

/** Writes the event in the step that it tells of. */
export async function writeAudit(unit: Pick<Unit, 'db' | 'ordinal'>, event: AuditEvent): Promise<void> {
  await unit.db
    .insertInto('latchkey_audit')
    .values({
      id: event.id,
      ordinal: unit.ordinal(),
      at_ms: event.atMs,
      event: event.event,
      outcome: event.outcome,
      user_id: event.userId,
      session_id: event.sessionId,
      ip: event.ip,
      user_agent: event.userAgent,
      detail: JSON.stringify(event.detail),
    })
    .execute()
}

function toEvent(row: Selectable<AuditTable>): AuditEvent {
  return {
    id: row.id,
    atMs: Number(row.at_ms),
    event: row.event,
    outcome: row.outcome,
    userId: row.user_id,
    sessionId: row.session_id,
    ip: row.ip,
    userAgent: row.user_agent,
    detail: readJson(row.detail),
  }
}
