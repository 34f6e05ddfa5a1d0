import { createRecent } from '../lib/recent.js'

/**
 * Tokens already verified by one verifier, with what was worked out from their claims.
 *
 * Only the signature and the claims' types are remembered. Whoever gets a value must still ask its expiry and its
 * revocation, on every hit.
 */
export interface VerifiedCache<V> {
  get(token: string): V | null
  /**
   * Only for a token that was just verified; failures are never stored. One that was cut out of a longer text keeps that
   * alive as long as it is remembered: a bearer token its header, which is hardly longer, but a cookie or a query is copied
   * out before (`copiedText`).
   */
  set(token: string, value: V): void
  /** Forgets all: the verifier's keys have changed. */
  clear(): void
}

interface Entry<V> {
  token: string
  value: V
}

/** Characters at a token's end that find its entry: 32 bits of a UUID, */
const uuidTail = 8
/** and 30 of a signature. Each takes longer to read in a text that was cut out of a header. */
const signatureTail = 5

/**
 * A bounded cache of verified tokens; those that were not asked for lately go first.
 *
 * An entry is found by the end of the token and counts only if the whole text is equal; two tokens that end alike only take
 * turns in being remembered. Every request brings its token as a new string, whose hash would have to be worked out.
 *
 * @param size entries, 10,000 unless told
 * @example
 * const cache = createVerifiedCache<SessionPrincipal>()
 * const known = cache.get(token)
 */
export function createVerifiedCache<V extends object>(size = 10_000): VerifiedCache<V> {
  const entries = createRecent<Entry<V>, number>(size)

  return {
    get(token) {
      const entry = entries.get(tailOf(token))
      return entry !== undefined && entry.token === token ? entry.value : null
    },
    set(token, value) {
      entries.set(tailOf(token), { token, value })
    },
    clear: entries.clear,
  }
}

/** The token's end as a number of 32 bits, which a `Map` takes as it is. */
function tailOf(token: string): number {
  let tail = 0
  const length = token.length > 36 ? signatureTail : uuidTail
  for (let at = Math.max(0, token.length - length); at < token.length; at += 1) {
    tail = (Math.imul(tail, 31) + token.charCodeAt(at)) | 0
  }
  return tail
}
