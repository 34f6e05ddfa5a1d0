import type { Moment } from '../lib/shared-clock.js'
import type { KeySetState } from '../model/key-set.js'
import type { JwtPrincipal } from '../model/principal.js'

/** A JWT of another issuer whose signature and claims are valid. */
export interface ForeignToken {
  /** Deep-frozen. */
  principal: JwtPrincipal
  /** Unix seconds, with the tolerance for clocks. The caller checks it on every use of the token. */
  expiresAt: number
}

/** Why a token is invalid. It never quotes the token. */
export interface ForeignFault {
  fault:
    | 'malformed'
    | 'algorithm'
    | 'header'
    | 'unknown_key'
    | 'signature'
    | 'expired'
    | 'not_yet_valid'
    | 'issuer'
    | 'audience'
    | 'claims'
    /** No trusted keys are available. */
    | 'keys_unavailable'
}

/** Checks JWTs of another issuer with the keys that it publishes. */
export interface ForeignTokens {
  /** Never rejects. The result is cached under `sent`: `Bearer ` and the token. */
  check(token: string, sent: string): Promise<ForeignToken | ForeignFault>
  /** The cached result of `check`, at once and without cryptography; null if there is none. */
  recall(sent: string, at: Moment): ForeignToken | ForeignFault | null
  /** The keys that tokens are checked with. */
  keySet(): KeySetState
  close(): void
}
