/** A code that was right. The step of the store that counts it uses it up: of concurrent ones, exactly one succeeds. */
export type FactorProof =
  | {
      kind: 'totp'
      /** The time step that the code is of; the newest one accepted so far must be older. */
      step: number
    }
  | {
      kind: 'backup_code'
      id: string
    }

/** What ends a sign-in of two steps, and is used up with it. */
export interface SecondStep {
  /** The one-time token of the first step. */
  challengeId: string
  proof: FactorProof
}

/** A code for when the authenticator is lost; only its keyed digest is kept. */
export interface BackupCode {
  id: string
  codeHash: string
}
