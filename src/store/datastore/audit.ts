import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditLog } from '../audit.js'
import { append, cutBefore, toEnds, toEndsRow } from '../audit-ends.js'
import { toEvent } from '../audit-rows.js'
import type { AuditHeadTable } from '../rows.js'
import { verifyAudit } from '../verify-audit.js'
import type { Query } from './engine/query.js'
import type { Steps } from './engine/steps.js'
import { audit, auditHead, onlyRow } from './engine/tables.js'
import type { Unit, View } from './engine/unit.js'

export function createAudit(steps: Steps): AuditLog {
  return {
    record: (event) => steps.step((unit) => writeAudit(unit, event)),

    list: ({ userId, event, actorId, after, limit }) =>
      steps.glance(async (view) => {
        const last = after === undefined ? null : await view.get(audit, after)
        if (after !== undefined && last === null) return []
        const query: Query = {
          ...(userId !== undefined && { user_id: userId }),
          ...(event !== undefined && { event }),
          ...(actorId !== undefined && { actor_id: actorId }),
          ...(last && { seq: { lt: last.seq } }),
        }
        return (await view.find(audit, query, { sort: { seq: -1 }, limit })).map(toEvent)
      }),

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

/** Writes the event in the step that it tells of. */
export async function writeAudit(unit: Unit, event: AuditEvent): Promise<void> {
  const head = await readHead(unit)
  const { row, ends } = append(toEnds(head, unit.seal), event, unit.seal)
  unit.put(audit, row)
  unit.put(auditHead, { slot: head.slot, ...toEndsRow(ends, unit.seal) })
  unit.audited.push(event)
}

/** @throws {Error} when somebody has taken it away: no log goes on without its head */
async function readHead(view: View): Promise<AuditHeadTable> {
  const head = await view.get(auditHead, onlyRow)
  if (!head) throw new Error('The head of the audit log is gone.')
  return head
}
