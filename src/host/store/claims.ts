/** What a space does one of at a time. */
export type ClaimKind = 'deploy' | 'activate' | 'undeploy' | 'env' | 'restore' | 'remove'

/** The right to change a space. Every write under it asks whether the space still has this epoch. */
export interface Claim {
  spaceId: string
  epoch: number
}

/** Someone else holds the claim. */
export interface HeldClaim {
  heldFor: ClaimKind
}

/** Claims end with their lease, so a killed process blocks a space no longer than that. Leases go by the store's clock. */
export interface Claims {
  /** Null: there is no such space. Of concurrent calls, exactly one gets the claim. */
  take(spaceId: string, kind: ClaimKind, leaseMs: number): Promise<Claim | HeldClaim | null>

  /** False: another process has taken the claim, or the space is gone. */
  renew(claim: Claim, leaseMs: number): Promise<boolean>

  /** Frees the space. Later writes of this epoch are refused. */
  release(claim: Claim): Promise<void>
}
