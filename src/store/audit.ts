import type { AuditEvent } from '../model/audit-event.js'

/** The audit log. Most events are written by the verbs of other ports, in the step they tell of. */
export interface AuditLog {
  record(event: AuditEvent): Promise<void>

  /** Newest first; those of one millisecond in the order in which a process wrote them. */
  list(filter: { userId?: string; event?: string; limit: number }): Promise<AuditEvent[]>
}
