import type { Query } from '../../http/query.js'

/** The parameters of a provider's answer. Each is null unless it has a plausible length. */
export interface ProviderReturn {
  state: string | null
  code: string | null
  error: string | null
  /** RFC 9207 */
  issuer: string | null
}

/** Upper bounds. Our states have 43 characters. Some providers use whole tokens as codes. */
const longest = { state: 128, code: 4096, error: 128, iss: 2048 } as const

/** Null when one of them comes more than once (RFC 6749 §3.1, RFC 9207 §2.4): nothing of such an answer counts. */
export function returnedByProvider(given: Query): ProviderReturn | null {
  const names = ['state', 'code', 'error', 'iss'] as const
  if (names.some((name) => given.all(name).length > 1)) return null
  const read = (name: keyof typeof longest): string | null => {
    const value = given.get(name) ?? ''
    return value === '' || value.length > longest[name] ? null : value
  }
  // An error parameter of any form counts as an error.
  const error = given.has('error') ? (read('error') ?? 'invalid') : null
  return { state: read('state'), code: read('code'), error, issuer: read('iss') }
}
