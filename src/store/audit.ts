import type { AuditEvent } from '../model/audit-event.js'

/** What `verify` found. */
export interface AuditVerdict {
  ok: boolean
  /** Id of the first event that does not fit; null when all do, and when not one event is left where there were some. */
  brokenAt: string | null
}

/**
 * The audit log. Most events are written by the verbs of other ports, in the step they tell of.
 *
 * It is a chain: each event is numbered without a gap, carries a hash over itself and the hash before it, and a mark by a
 * key outside the store; so do the newest event and the last one that retention removed. A writer that finds the newest
 * mark wrong builds nothing upon it: its own event begins a new chain, which `verify` finds for as long as it is there.
 */
export interface AuditLog {
  record(event: AuditEvent): Promise<void>

  /** Newest first, in the order in which the store took them; with `after` those before the event of that id. */
  list(filter: {
    userId?: string
    event?: string
    /** Of a user or an admin token, as the actor. */
    actorId?: string
    after?: string
    limit: number
  }): Promise<AuditEvent[]>

  /**
   * Reads the whole log, a page at a time, and tells where it was changed, cut or added to by anybody without the key.
   * What others write or retention removes meanwhile is no fault.
   *
   * `brokenAt` is the changed event, or the first one after a gap; where events are missing at the end, the last that is
   * there. What cannot be found is a whole store put back to an older state of its own.
   */
  verify(): Promise<AuditVerdict>

  /**
   * Removes up to `count` of the oldest events that happened before that moment (Unix milliseconds), never the newest,
   * and marks where the log begins now. Returns how many.
   */
  prune(beforeMs: number, count: number): Promise<number>
}
