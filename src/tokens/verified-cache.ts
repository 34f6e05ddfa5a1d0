import { copiedText } from '../lib/copied-text.js'
import { createRecent } from '../lib/recent.js'

/**
 * Tokens already verified by one verifier, each under the text it is looked up by, with what was worked out from their claims.
 *
 * Only the signature and the claims' types are remembered. Whoever gets a value must still ask its expiry and its
 * revocation, on every hit.
 */
export interface VerifiedCache<V> {
  get(token: string): V | null
  /** Only for a token that was just verified; failures are never stored. A bearer token stands here with its scheme. */
  set(token: string, value: V): void
  /**
   * The same for one that was cut out of a longer text, a cookie or a query: it would keep that alive as long as it is
   * remembered, so a copy of it is.
   */
  setCopy(token: string, value: V): void
  /** Forgets all: the verifier's keys have changed. */
  clear(): void
}

interface Entry<V> {
  token: string
  value: V
  /** Another one whose token ends alike, without a further one. */
  beside: Entry<V> | null
}

/** Characters of a UUID, and how many of them, 32 bits, find its entry. */
const uuidLength = 36
const uuidTail = 8

/** Characters of a signature that do: 26 to 28 bits. Each takes longer to read in a text that was cut out of a cookie. */
const signatureTail = 5

/**
 * A bounded cache of verified tokens; those that were not asked for lately go first.
 *
 * An entry is found by the end of the token and counts only if the whole text is equal; of more than two tokens that end
 * alike, two are remembered. Every request brings its token as a new string, whose hash would have to be worked out.
 *
 * @param size entries, 10,000 unless told
 * @example
 * const cache = createVerifiedCache<SessionPrincipal>()
 * const known = cache.get(token)
 */
export function createVerifiedCache<V extends object>(size = 10_000): VerifiedCache<V> {
  const entries = createRecent<Entry<V>, number>(size)

  function set(token: string, value: V): void {
    const tail = tailOf(token)
    entries.set(tail, { token, value, beside: otherThan(token, entries.get(tail)) })
  }

  return {
    get(token) {
      const entry = entries.get(tailOf(token))
      if (entry === undefined) return null
      if (entry.token === token) return entry.value
      return entry.beside?.token === token ? entry.beside.value : null
    },
    set,
    setCopy: (token, value) => set(copiedText(token), value),
    clear: entries.clear,
  }
}

function otherThan<V>(token: string, before: Entry<V> | undefined): Entry<V> | null {
  if (before === undefined) return null
  return before.token === token ? before.beside : { ...before, beside: null }
}

/** The token's end as a number of 32 bits, which a `Map` takes as it is. The factor, FNV's, keeps ends of few bits apart. */
function tailOf(token: string): number {
  const length = token.length > uuidLength ? signatureTail : uuidTail
  let tail = 0
  for (let at = Math.max(0, token.length - length); at < token.length; at += 1) {
    tail = (Math.imul(tail, 0x01000193) + token.charCodeAt(at)) | 0
  }
  return tail
}
