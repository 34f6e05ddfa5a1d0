/** A key of a published key set, as far as people compare it. */
export interface PublishedKey {
  /** null: the key has no id. */
  kid: string | null
  /** The one algorithm that the key is for; null: any that fits its kind. */
  alg: string | null
  /** `sig`, or null when the set does not say. */
  use: string | null
}

/**
 * Why a key set cannot be used. `not_allowed`: its address is not public. `unreachable`: refused, too slow, or TLS failed.
 * `too_large`: more than 256 KiB.
 */
export type KeySetFault = 'not_allowed' | 'unreachable' | 'redirected' | 'too_large' | 'not_a_key_set'

/** What a URL of a key set answers with. */
export interface KeySetCheck {
  ok: boolean
  keys: readonly PublishedKey[]
  fault: KeySetFault | null
}

/** The key set in force. `ok` is false when no set can be trusted; `fault` tells of the last read. */
export interface KeySetState extends KeySetCheck {
  /** ISO 8601 in UTC: when the last good set was read; null: never. */
  fetchedAt: string | null
}

/** What tokens of another issuer must fulfil, besides a signature by a key of its set. */
export interface KeySetRules {
  /** What `iss` must be; null: not checked. */
  issuer: string | null
  /** `aud` must name one of these; empty: not checked. */
  audience: readonly string[]
  /** Accepted signature algorithms. */
  algorithms: readonly string[]
  /** While there is a key set, no other credential counts. */
  exclusive: boolean
}
