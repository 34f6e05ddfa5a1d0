import type { AuditEvent, EventFilter } from '../../model/audit-event.js'
import { append, cutBefore, toEnds, toEndsRow } from '../audit/ends.js'
import { actorColumn, toEvent } from '../audit/rows.js'
import { verifyAudit } from '../audit/verify.js'
import type { AuditLog } from '../audit.js'
import type { AuditHeadTable, AuditTable } from '../rows.js'
import { matches, type Query } from './engine/query.js'
import type { Steps } from './engine/steps.js'
import { audit, auditHead, onlyRow } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.step((unit) => writeAudit(unit, event)),

    recordOnce: (event, sinceMs) =>
      steps.step(async (unit) => {
        const since = await unit.find(audit, { event: event.event, at_ms: { gte: sinceMs } })
        const { column, value } = actorColumn(event)
        if (since.some((row) => row[column] === value)) return false
        await writeAudit(unit, event)
        return true
      }),

    list: (filter) => steps.glance(async (view) => (await list(view, filter)).map(toEvent)),

    verify: () =>
      verifyAudit({
        seal: steps.seal,
        snapshot: () =>
          steps.read(async (view) => {
            const head = await view.get(auditHead, onlyRow)
            const [newest] = await view.find(audit, {}, { sort: { seq: -1 }, limit: 1 })
            return head && { ...toEnds(head, steps.seal), newest: newest?.seq ?? head.seq }
          }),
        page: (after, newest, count) =>
          steps.glance((view) =>
            view.find(
              audit,
              { seq: { lte: newest, ...(after !== null && { gt: after }) } },
              { sort: { seq: 1 }, limit: count },
            ),
          ),
      }),

    prune: (beforeMs, count) =>
      steps.step(async (unit) => {
        const head = await readHead(unit)
        const oldest = await unit.find(audit, {}, { sort: { seq: 1 }, limit: count })
        const { due, ends } = cutBefore(toEnds(head, unit.seal), oldest, beforeMs, unit.seal)
        unit.remove(audit, due)
        unit.put(auditHead, { slot: head.slot, ...toEndsRow(ends, unit.seal) })
        return due.length
      }),
  }
}

async function list(view: View, filter: EventFilter): Promise<AuditTable[]> {
  const { userId, event, actorId, fromMs, toMs, after, limit } = filter
  const last = after === undefined ? null : await view.get(audit, after)
  if (after !== undefined && last === null) return []
  const query: Query = {
    ...(userId !== undefined && { user_id: userId }),
    ...(event !== undefined && { event }),
    ...(actorId !== undefined && { actor_id: actorId }),
  }
  if (fromMs === undefined && toMs === undefined) {
    return view.find(audit, { ...query, ...(last && { seq: { lt: last.seq } }) }, { sort: { seq: -1 }, limit })
  }
  const span = { ...(fromMs !== undefined && { gte: fromMs }), ...(toMs !== undefined && { lt: toMs }) }
  const newestFirst = { at_ms: -1, seq: -1 } as const
  if (!last) return view.find(audit, { ...query, at_ms: span }, { sort: newestFirst, limit })

  // No query has an "or" that every adapter knows, so the rest of that millisecond is asked for by itself.
  const ofThatTime = { ...query, at_ms: last.at_ms, seq: { lt: last.seq } }
  const older = { ...query, at_ms: { ...span, lt: Math.min(last.at_ms, toMs ?? last.at_ms) } }
  const rest = matches({ at_ms: last.at_ms }, { at_ms: span })
    ? await view.find(audit, ofThatTime, { sort: newestFirst, limit })
    : []
  return [...rest, ...(await view.find(audit, older, { sort: newestFirst, limit }))].slice(0, limit)
}

/** Writes the event in the step that it records. */
export async function writeAudit(unit: Unit, event: AuditEvent): Promise<void> {
  const head = await readHead(unit)
  const { row, ends } = append(toEnds(head, unit.seal), event, unit.seal)
  unit.put(audit, row)
  unit.put(auditHead, { slot: head.slot, ...toEndsRow(ends, unit.seal) })
  unit.audited.push(event)
}

/** @throws {Error} when the head was deleted: the log cannot continue without it */
async function readHead(view: View): Promise<AuditHeadTable> {
  const head = await view.get(auditHead, onlyRow)
  if (!head) throw new Error('The head of the audit log is gone. Restore the collections of latchkey from a backup.')
  return head
}
