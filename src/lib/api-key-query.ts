/** What a raw query says of `apikey`. */
export interface ApiKeyQuery {
  /** The values given under that name; null for one that stands under `apikey[…]` or cannot be decoded. */
  values: readonly (string | null)[]
  /** The query without them, everything else letter for letter. */
  rest: string
}

/**
 * Takes `apikey` out of a raw query, under every spelling that a parser would read as that name: encoded, with brackets.
 * Null when there is none, which is what most queries are.
 *
 * @example takeApiKey('q=1&apikey=k') // { values: ['k'], rest: 'q=1' }
 */
export function takeApiKey(query: string): ApiKeyQuery | null {
  if (query === '' || !/apikey|%/i.test(query)) return null
  const values: (string | null)[] = []
  const rest = query.split('&').filter((pair) => {
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    if (name === null || !isApiKeyName(name)) return true
    values.push(name === 'apikey' ? decode(equals === -1 ? '' : pair.slice(equals + 1)) : null)
    return false
  })
  return values.length === 0 ? null : { values, rest: rest.join('&') }
}

/** Whether a parsed query holds the token under that name. */
export function isApiKeyName(name: string): boolean {
  return /^apikey(?:$|[[.])/.test(name.trim())
}

/** The URL with another query; all before it stays. */
export function withQuery(url: string, query: string): string {
  const mark = url.indexOf('?')
  const path = mark === -1 ? url : url.slice(0, mark)
  return query === '' ? path : `${path}?${query}`
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
