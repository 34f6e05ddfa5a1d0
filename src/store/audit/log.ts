import type { EventFilter } from '../../model/audit-event.js'
import type { AuditLog } from '../audit.js'
import type { AuditTable } from '../rows.js'
import { audit, auditHead } from '../tables.js'
import type { Query, Steps, View } from '../unit.js'
import { readHead } from './append.js'
import type { AuditSeal } from './chain.js'
import { cutBefore, toEnds, toEndsRow } from './ends.js'
import { actorColumn, toEvent } from './rows.js'
import { type AuditReader, verifyAudit } from './verify.js'

/** @param snapshot what each store reads in a way of its own: all of it is of one moment */
export function createAudit(steps: Steps & { seal: AuditSeal }, snapshot: AuditReader['snapshot']): AuditLog {
  const { seal } = steps
  return {
    record: (event) => steps.transaction(async (unit) => unit.audit(event)),

    recordOnce: (event, sinceMs) =>
      steps.transaction(async (unit) => {
        // From here on, every other writer of the log waits, so this step sees all earlier events.
        await readHead(unit)
        const { column, value } = actorColumn(event)
        const query = { event: event.event, at_ms: { gte: sinceMs } }
        // No query asks for null.
        const earlier =
          value === null
            ? await unit.find(audit, query)
            : await unit.find(audit, { ...query, [column]: value }, { limit: 1 })
        if (earlier.some((row) => row[column] === value)) return false
        unit.audit(event)
        return true
      }),

    list: (filter) => steps.glance(async (view) => (await list(view, filter)).map(toEvent)),

    verify: () =>
      verifyAudit({
        seal,
        snapshot,
        page: (after, newest, limit) =>
          steps.glance((view) =>
            view.find(
              audit,
              { seq: { lte: newest, ...(after !== null && { gt: after }) } },
              { sort: { seq: 1 }, limit },
            ),
          ),
      }),

    prune: (beforeMs, limit) =>
      steps.transaction(async (unit) => {
        const head = await readHead(unit)
        const oldest = await unit.find(audit, {}, { sort: { seq: 1 }, limit })
        const { due, ends } = cutBefore(toEnds(head, seal), oldest, beforeMs, seal)
        await unit.remove(audit, due)
        await unit.put(auditHead, { slot: head.slot, ...toEndsRow(ends, seal) })
        return due.length
      }),
  }
}

async function list(view: View, filter: EventFilter): Promise<AuditTable[]> {
  const { userId, event, actorId, fromMs, toMs, after, limit } = filter
  const last = after === undefined ? null : await view.get(audit, { id: after })
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

  // No query has an "or", so the rest of that millisecond is asked for by itself.
  const ofThatTime = { ...query, at_ms: last.at_ms, seq: { lt: last.seq } }
  const older = { ...query, at_ms: { ...span, lt: Math.min(last.at_ms, toMs ?? last.at_ms) } }
  const isInSpan = last.at_ms >= (fromMs ?? last.at_ms) && last.at_ms < (toMs ?? Number.POSITIVE_INFINITY)
  const rest = isInSpan ? await view.find(audit, ofThatTime, { sort: newestFirst, limit }) : []
  return [...rest, ...(await view.find(audit, older, { sort: newestFirst, limit }))].slice(0, limit)
}
