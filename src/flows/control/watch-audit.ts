import { actorId } from '../../model/actor.js'
import type { AuditEvent, AuditVerdict } from '../../model/audit-event.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'

type WatchPorts = Pick<Ports, 'audit' | 'clock' | 'random'>

const hourMs = 3_600_000

/** Records that the visitor reads the audit log, once an hour for each reader. A visitor without a credential is not recorded. */
export async function noteAuditRead(ports: WatchPorts, visitor: Visitor): Promise<void> {
  if (visitor.actor === null) return
  await noteOnce(ports, auditEvent(ports, 'audit_read', visitor), hourMs)
}

/** Records the event, unless its actor caused one of this name less than `withinMs` ago. */
export async function noteOnce({ audit }: Pick<Ports, 'audit'>, event: AuditEvent, withinMs: number): Promise<void> {
  const sinceMs = event.atMs - withinMs
  const actor = actorId(event.actor)
  if (actor !== null) {
    // A read alone tells most requests that nothing is to be written. The step below decides.
    const earlier = await audit.list({ event: event.event, actorId: actor, fromMs: sinceMs, limit: 1 })
    if (earlier.length > 0) return
  }
  await audit.recordOnce(event, sinceMs)
}

/** Verifies the whole audit log and records the result in it. */
export async function verifyAudit(ports: WatchPorts, { visitor }: { visitor: Visitor }): Promise<AuditVerdict> {
  const verdict = await ports.audit.verify()
  const { ok, brokenAt } = verdict
  const outcome = ok ? 'success' : 'failure'
  const detail = brokenAt === null ? {} : { brokenAt }
  await ports.audit.record(auditEvent(ports, 'audit_verified', visitor, { outcome, detail }))
  return verdict
}
