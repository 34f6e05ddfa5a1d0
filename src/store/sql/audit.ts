import type { Kysely } from 'kysely'
import type { AuditEvent, EventFilter } from '../../model/audit-event.js'
import { append } from '../audit/ends.js'
import { actorColumn, toEvent } from '../audit/rows.js'
import type { AuditLog } from '../audit.js'
import { lockEnds, writeEnds } from './audit-ends.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import type { Steps, Unit } from './engine/steps.js'
import { pruneAudit } from './prune-audit.js'
import { verifySqlAudit } from './verify-audit.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.transaction((unit) => writeAudit(unit, event)),

    recordOnce: (event, sinceMs) =>
      steps.transaction(async (unit) => {
        // From here on, every other writer of the log waits, so this transaction sees all earlier events.
        await lockEnds(unit)
        const { column, value } = actorColumn(event)
        const earlier = await unit.db
          .selectFrom('latchkey_audit')
          .select('id')
          .where('event', '=', event.event)
          .where('at_ms', '>=', sinceMs)
          .where(column, value === null ? 'is' : '=', value)
          .limit(1)
          .executeTakeFirst()
        if (earlier) return false
        await writeAudit(unit, event)
        return true
      }),

    list: (filter) => steps.step((db) => list(steps.flavour, db, filter)),

    verify: () => verifySqlAudit(steps),
    prune: (beforeMs, count) => pruneAudit(steps, beforeMs, count),
  }
}

async function list(flavour: Flavour, db: Kysely<Tables>, filter: EventFilter): Promise<AuditEvent[]> {
  const { userId, event, actorId, fromMs, toMs, after, limit } = filter
  let rows = db.selectFrom('latchkey_audit').selectAll()
  if (userId !== undefined) rows = rows.where('user_id', '=', userId)
  if (actorId !== undefined) rows = rows.where('actor_id', '=', actorId)
  if (event !== undefined) rows = rows.where((eb) => eb(eb.ref('event').$castTo<string>(), '=', event))
  if (fromMs !== undefined) rows = rows.where('at_ms', '>=', fromMs)
  if (toMs !== undefined) rows = rows.where('at_ms', '<', toMs)
  const byTime = fromMs !== undefined || toMs !== undefined
  if (after !== undefined) {
    const last = await db
      .selectFrom('latchkey_audit')
      .select(['at_ms', 'seq'])
      .where('id', '=', after)
      .executeTakeFirst()
    if (!last) return []
    const [atMs, seq] = [Number(last.at_ms), Number(last.seq)]
    rows = byTime ? rows.where(flavour.before(['at_ms', 'seq'], [atMs, seq])) : rows.where('seq', '<', seq)
  }
  if (byTime) rows = rows.orderBy('at_ms', 'desc')
  const found = await rows.orderBy('seq', 'desc').limit(limit).execute()
  return found.map(toEvent)
}

/** Writes the event in the step that it records, near its end: from here to the commit, all other writers wait. */
export async function writeAudit(
  unit: Pick<Unit, 'db' | 'flavour' | 'seal' | 'audited'>,
  event: AuditEvent,
): Promise<void> {
  const { row, ends } = append(await lockEnds(unit), event, unit.seal)
  await unit.db.insertInto('latchkey_audit').values(row).execute()
  await writeEnds(unit, ends)
  unit.audited.push(event)
}
