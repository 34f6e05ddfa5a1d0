import { isUtf8 } from 'node:buffer'

/** The occurrences of `apikey` in a raw query. */
export interface ApiKeyQuery {
  /**
   * The values of that name; null for one under `apikey[…]`, for one that cannot be decoded, and from the third on, because
   * more than one is refused.
   */
  values: readonly (string | null)[]
  /** The query without them, otherwise unchanged. */
  rest: string
}

/**
 * Removes `apikey` from a raw query, in every spelling that a parser would read as that name: encoded, with brackets. Null
 * when the query has none, which is the usual case.
 *
 * @example takeApiKey('q=1&apikey=k') // { values: ['k'], rest: 'q=1' }
 */
export function takeApiKey(query: string): ApiKeyQuery | null {
  if (!spelling.test(query)) return null
  const values: (string | null)[] = []
  const rest = query.split('&').filter((pair) => {
    const equals = pair.indexOf('=')
    const written = equals === -1 ? pair : pair.slice(0, equals)
    if (!spelling.test(written)) return true
    const name = /[%+]/.test(written) ? percentDecoded(written).toString() : written
    if (!isApiKeyName(name)) return true
    const counts = name === 'apikey' && values.length < 2
    values.push(counts ? decode(equals === -1 ? '' : pair.slice(equals + 1)) : null)
    return false
  })
  return values.length === 0 ? null : { values, rest: rest.join('&') }
}

/** `apikey` with any of its letters encoded. */
const spelling = /(?:a|%61)(?:p|%70)(?:i|%69)(?:k|%6b)(?:e|%65)(?:y|%79)/i

/** Whether a parser reads the name as `apikey`: `apikey[x]` and `apikey.x` become members of it, `[apikey]` the name itself. */
export function isApiKeyName(name: string): boolean {
  return /^\[?apikey(?:$|[[\].])/.test(name.trim())
}

/** The URL with another query; the part before it stays. */
export function withQuery(url: string, query: string): string {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  return query === '' ? path : `${path}?${query}`
}

/**
 * The text of an ASCII value; null where `decodeURIComponent` would throw. It does not throw, because a client could cause
 * 7,500 exceptions with one query.
 */
function decode(text: string): string | null {
  if (/[^ -~]|%(?![\da-f]{2})/i.test(text)) return null
  const bytes = percentDecoded(text)
  return isUtf8(bytes) ? bytes.toString() : null
}

/** Percent-decoded bytes. Invalid escapes stay as they are. */
function percentDecoded(text: string): Buffer {
  const bytes = text
    .replaceAll('+', ' ')
    .replaceAll(/%[\da-f]{2}/gi, (encoded) => String.fromCharCode(Number.parseInt(encoded.slice(1), 16)))
  return Buffer.from(bytes, 'latin1')
}
