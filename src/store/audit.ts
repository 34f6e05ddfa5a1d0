import type { AuditEvent, AuditVerdict, EventFilter } from '../model/audit-event.js'

/**
 * The audit log. Most events are written by the verbs of other ports, in the step that they record.
 *
 * It is a chain: each event is numbered without a gap and carries a hash over itself and the hash before it, and a mark by a
 * key outside the store. The newest event and the last one that retention removed are marked, too. A writer that finds the
 * newest mark invalid does not continue that chain: its own event begins a new chain, which `verify` reports.
 */
export interface AuditLog {
  record(event: AuditEvent): Promise<void>

  /**
   * Records the event, unless its actor has caused one of the same name since that moment (Unix milliseconds). Actors
   * are the same if they have the same id; those without one, if they are equal. Of concurrent calls, exactly one is true.
   */
  recordOnce(event: AuditEvent, sinceMs: number): Promise<boolean>

  /**
   * Newest first: in the order in which the store wrote them, or with `fromMs` or `toMs` by their time. With `after`: those
   * that come after the event of that id in this order.
   */
  list(filter: EventFilter): Promise<AuditEvent[]>

  /**
   * Reads the whole log, a page at a time, and reports where anyone without the key changed, removed or added events. Events
   * that are written or that retention removes meanwhile are no fault.
   *
   * `brokenAt` is the changed event, or the first one after a gap. If events are missing at the end, it is the last event
   * that is left. A whole store that was restored to an older state cannot be detected.
   */
  verify(): Promise<AuditVerdict>

  /**
   * Removes up to `count` of the oldest events that happened before that moment (Unix milliseconds), never the newest,
   * and marks where the log begins now. Returns how many.
   */
  prune(beforeMs: number, count: number): Promise<number>
}
