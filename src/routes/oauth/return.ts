/** What a provider brings back: each null unless it is there once, and no longer than providers make it. */
export interface ProviderReturn {
  state: string | null
  code: string | null
  error: string | null
  /** RFC 9207 */
  issuer: string | null
}

/** Our own states have 43 characters; codes of some providers are whole tokens. */
const longest = { state: 128, code: 4096, error: 128, iss: 2048 } as const

export function returnedByProvider(given: URLSearchParams): ProviderReturn {
  const once = (name: keyof typeof longest): string | null => {
    const [value = '', ...more] = given.getAll(name)
    return value === '' || more.length > 0 || value.length > longest[name] ? null : value
  }
  // An error that is there in whatever form is an error.
  const error = given.has('error') ? (once('error') ?? 'invalid') : null
  return { state: once('state'), code: once('code'), error, issuer: once('iss') }
}
