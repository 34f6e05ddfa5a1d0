import type { FactorKind } from './factor-kind.js'

/** An authenticator app with time-based codes (RFC 6238). */
export interface Totp {
  kind: 'totp'
  /** The shared secret, sealed and bound to the user's id. */
  sealedSecret: string
  /** The newest time step whose code was accepted: codes of it and of earlier ones are used up. */
  lastStep: number
  /** Unix seconds. */
  enabledAt: number
}

export interface TotpProof {
  kind: 'totp'
  /** The time step of the code. The newest one accepted so far must be older. */
  step: number
}

export const totp: FactorKind<Totp, TotpProof> = {
  kind: 'totp',
  asks: true,
  methods: ['totp'],
  signsIn: false,
  worksAt: () => true,
  amr: () => ['otp'],
  // `lastStep` moves with every code; only a new secret voids a proof.
  sameProof: (was, is) => was.sealedSecret === is.sealedSecret,
}
