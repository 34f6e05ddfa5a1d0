import { copiedText } from '../lib/copied-text.js'
import { createRecent } from '../lib/recent.js'

/**
 * Tokens that one verifier has verified, with the result made from their claims. The key is the whole text that the client
 * sent.
 *
 * Only the signature and the types of the claims are remembered. The caller must check expiry and revocation on every hit.
 */
export interface VerifiedCache<V> {
  get(token: string): V | null
  /** Only for a token that was just verified; failures are never stored. A bearer token is stored with its scheme. */
  set(token: string, value: V): void
  /** Stores a copy of a token that is a slice of a cookie or query: V8 would keep the whole text in memory for the slice. */
  setCopy(token: string, value: V): void
  /** Forgets every token. Called when the verifier's keys have changed. */
  clear(): void
}

/**
 * A bounded cache of verified tokens. It evicts those that were not used lately.
 *
 * @param size entries, 10,000 by default
 * @example
 * const cache = createVerifiedCache<SessionPrincipal>()
 * const known = cache.get(token)
 */
export function createVerifiedCache<V extends object>(size = 10_000): VerifiedCache<V> {
  const { get, set, clear } = createRecent<V>(size)
  return {
    get: (token) => get(token) ?? null,
    set,
    setCopy: (token, value) => set(copiedText(token), value),
    clear,
  }
}
