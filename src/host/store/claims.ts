import type { Actor } from '../../model/actor.js'
import type { AuditEvent } from '../../model/audit-event.js'

/** What a space does one of at a time. `hold`: a person has taken the claim over, and changes the space next. */
export type ClaimKind = 'deploy' | 'activate' | 'undeploy' | 'env' | 'restore' | 'remove' | 'hold'

/** The right to change a space. Every write under it asks whether the space still has this epoch. */
export interface Claim {
  spaceId: string
  epoch: number
}

/** The claim is held. */
export interface HeldClaim {
  heldFor: ClaimKind
  /** null: unknown, as for a claim of an older version. */
  by: Actor | null
  /** Unix milliseconds, by the store's clock. */
  sinceMs: number
}

/** Claims end with their lease, so a killed process blocks a space no longer than that. Leases go by the store's clock. */
export interface Claims {
  /**
   * Null: there is no such space. Of concurrent calls, exactly one gets the claim. A `hold` of the same user gives way.
   *
   * @param by default: unknown
   */
  take(spaceId: string, kind: ClaimKind, leaseMs: number, by?: Actor | null): Promise<Claim | HeldClaim | null>

  /**
   * Ends the claim of whatever holds it, and holds it for this user: what was under way can write nothing any more. Null, and
   * nothing changed: nothing holds it.
   */
  takeOver(
    spaceId: string,
    hold: { by: Actor | null; leaseMs: number; audit(held: HeldClaim): AuditEvent },
  ): Promise<HeldClaim | null>

  /** False: another process has taken the claim, or the space is gone. */
  renew(claim: Claim, leaseMs: number): Promise<boolean>

  /** Frees the space. Later writes of this epoch are refused. */
  release(claim: Claim): Promise<void>
}
