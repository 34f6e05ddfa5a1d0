import type { Moment } from '../lib/shared-clock.js'
import type { JwtPrincipal } from '../model/principal.js'

/** A JWT of another issuer whose signature and claims are sound. */
export interface ForeignToken {
  /** Deep-frozen. */
  principal: JwtPrincipal
  /** Unix seconds, with what clocks may differ. Whoever gets the token asks this on every use. */
  expiresAt: number
}

/** Why a token counts for nothing; never says what stands in it. */
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
    /** There are no keys that may be believed. */
    | 'keys_unavailable'
}

/** Checks JWTs of another issuer by the keys that it publishes. */
export interface ForeignTokens {
  /** Never rejects. The token is remembered by `sent`, a text that says nothing else: `Bearer ` and the token. */
  check(token: string, sent: string): Promise<ForeignToken | ForeignFault>
  /** What `check` found before, at once and without cryptography; null for what nobody remembers. */
  recall(sent: string, at: Moment): ForeignToken | ForeignFault | null
  close(): void
}
