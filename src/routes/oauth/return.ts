/** The parameters of a provider's answer. Each is null unless it occurs once and has a plausible length. */
export interface ProviderReturn {
  state: string | null
  code: string | null
  error: string | null
  /** RFC 9207 */
  issuer: string | null
}

/** Upper bounds. Our states have 43 characters. Some providers use whole tokens as codes. */
const longest = { state: 128, code: 4096, error: 128, iss: 2048 } as const

export function returnedByProvider(given: URLSearchParams): ProviderReturn {
  const once = (name: keyof typeof longest): string | null => {
    const [value = '', ...more] = given.getAll(name)
    return value === '' || more.length > 0 || value.length > longest[name] ? null : value
  }
  // An error parameter of any form counts as an error.
  const error = given.has('error') ? (once('error') ?? 'invalid') : null
  return { state: once('state'), code: once('code'), error, issuer: once('iss') }
}
