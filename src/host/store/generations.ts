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

/** Every write asks for the claim; false and null: it is lost, and nothing changed. */
export interface Generations {
  /** Null: there is no such space. */
  read(spaceId: string): Promise<KnownGenerations | null>

  /** A number that no generation of the space has had. */
  reserve(claim: Claim): Promise<number | null>

  /** One statement puts a generation in force. The one before is kept for that long. */
  switchTo(claim: Claim, change: { generation: number; keepMs: number; audit: AuditEvent }): Promise<boolean>

  /** The file of this former generation is gone. */
  forget(claim: Claim, former: number): Promise<boolean>
}
