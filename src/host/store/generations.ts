import type { AuditEvent } from '../../model/audit-event.js'
import type { Claim } from './claims.js'

/** Which files hold the data of a space. */
export interface KnownGenerations {
  /** The one in force. */
  current: number
  /** The one before the last restore or undo; null: there is none. */
  former: number | null
  /** Whether the time for an undo is not over. By the store's clock. */
  isFormerKept: boolean
}

/**
 * Writes to what is in force ask for the claim; false: it is lost, and nothing changed. A draft is a generation that is being
 * filled. It needs no claim, and counts as abandoned when its lease is over. Leases go by the store's clock.
 */
export interface Generations {
  /** Null: there is no such space. */
  read(spaceId: string): Promise<KnownGenerations | null>

  /** Begins a draft, with a number that no generation of the space has had. Null: there is no such space. */
  beginDraft(spaceId: string, leaseMs: number): Promise<number | null>

  /** False: the draft was given up, or is in force. */
  renewDraft(spaceId: string, generation: number, leaseMs: number): Promise<boolean>

  /** Gives a draft up. It can be put in force no more. */
  endDraft(spaceId: string, generation: number): Promise<void>

  /** The drafts that are being filled. Those whose lease is over are given up. */
  liveDrafts(spaceId: string): Promise<number[]>

  /**
   * One step puts a generation in force. The one before is kept for that long. False also for a draft that was given up.
   *
   * @param change `isDraft`: it is one, not a former generation
   */
  switchTo(
    claim: Claim,
    change: { generation: number; isDraft: boolean; keepMs: number; audit: AuditEvent },
  ): Promise<boolean>

  /** The file of this former generation is gone. */
  forget(claim: Claim, former: number): Promise<boolean>
}
