import type { AuditEvent } from '../../model/audit-event.js'
import type { AuditHeadTable } from '../rows.js'
import { audit, auditHead, onlyRow } from '../tables.js'
import type { Unit, View } from '../unit.js'
import type { AuditSeal } from './chain.js'
import { append, toEnds, toEndsRow } from './ends.js'

/**
 * Appends the events to the log, in the step that they record and near its end: from here until the step ends, all other
 * writers of the log wait, in every process.
 */
export async function appendEvents(
  unit: Pick<Unit, 'get' | 'put'>,
  events: readonly AuditEvent[],
  seal: AuditSeal,
): Promise<void> {
  const head = await readHead(unit)
  let ends = toEnds(head, seal)
  for (const event of events) {
    const appended = append(ends, event, seal)
    await unit.put(audit, appended.row)
    ends = appended.ends
  }
  await unit.put(auditHead, { slot: head.slot, ...toEndsRow(ends, seal) })
}

/** @throws {Error} when the head was deleted: the log cannot continue without it */
export async function readHead(view: Pick<View, 'get'>): Promise<AuditHeadTable> {
  const head = await view.get(auditHead, onlyRow)
  if (!head) throw new Error('The head of the audit log is gone. Restore the tables of latchkey from a backup.')
  return head
}
