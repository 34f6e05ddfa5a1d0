const maxLength = 2048

/** Printable ASCII without space and backslash: what no parser trims, drops or turns into a slash. */
const plainText = /^[\x21-\x5b\x5d-\x7e]+$/

/** Encoded slash, backslash and control characters: a proxy that decodes once would see another path. */
const encodedDelimiter = /%(?:[01][0-9a-f]|2f|5c|7f)/i

/**
 * Decides where a browser may be sent after a sign-in: to a path of our own origin, or to a URL of a trusted origin.
 *
 * A path begins with exactly one slash, is printable ASCII, and neither resolves nor decodes to anything of another
 * host (ASVS 5.0, 3.7.2). A URL must begin with the trusted origin, letter for letter. Our own origin is written as a
 * path.
 *
 * @returns the target as given, or null: use the configured one
 * @example safeRedirect('/inbox?page=2', 'https://app.example.com', []) // '/inbox?page=2'
 */
export function safeRedirect(input: unknown, origin: string, trustedOrigins: readonly string[]): string | null {
  if (typeof input !== 'string' || input.length > maxLength || !plainText.test(input)) return null
  if (input.startsWith('/')) return leadsTo(origin, input, input) ? input : null

  const trusted = trustedOrigins.find((candidate) => /^(?:[/?#]|$)/.test(behind(candidate, input) ?? '-'))
  if (trusted === undefined) return null
  return leadsTo(trusted, input, input.slice(trusted.length)) ? input : null
}

/**
 * The target with these parameters after its own query and before its fragment.
 *
 * @example withQuery('/login?lang=de#form', { error: 'oauth_denied' }) // '/login?lang=de&error=oauth_denied#form'
 */
export function withQuery(target: string, values: Readonly<Record<string, string>>): string {
  const added = new URLSearchParams(values).toString()
  if (added === '') return target
  const [, place = '', fragment = ''] = /^([^#]*)(.*)$/.exec(target) ?? []
  return `${place}${place.includes('?') ? '&' : '?'}${added}${fragment}`
}

function behind(origin: string, target: string): string | null {
  return target.startsWith(origin) ? target.slice(origin.length) : null
}

/** `rest` is the part after the origin. */
function leadsTo(origin: string, target: string, rest: string): boolean {
  if (rest.startsWith('//') || encodedDelimiter.test(rest.replace(/[?#].*$/, ''))) return false
  if (!URL.canParse(target, origin)) return false
  const url = new URL(target, origin)
  return url.origin === origin && !url.pathname.startsWith('//')
}

/**
 * Reads an absolute http or https URL strictly: printable ASCII, without user name or password, and without anything that a
 * parser would repair. Null for any other text.
 */
export function parseHttpUrl(input: unknown): URL | null {
  if (typeof input !== 'string' || input.length > maxLength || !plainText.test(input)) return null
  if (!/^https?:\/\/[^/?#@%]+(?:[/?#]|$)/i.test(input) || !URL.canParse(input)) return null
  const url = new URL(input)
  return url.hostname.endsWith('.') ? null : url
}

/**
 * Reads a web origin and gives it as browsers write it in `Origin` (RFC 6454 §6.2): lower case, no default port.
 *
 * @returns null for anything with a path, for wildcards and for `null`
 * @example parseOrigin('https://App.example.com:443') // 'https://app.example.com'
 */
export function parseOrigin(input: unknown): string | null {
  const url = parseHttpUrl(input)
  if (url === null || url.hostname.includes('*')) return null
  return url.pathname === '/' && url.search === '' && url.hash === '' && !/[?#]$/.test(url.href) ? url.origin : null
}

/** True for `localhost`, 127.0.0.0/8 and `[::1]`, as `URL.hostname` spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** True for https anywhere and http on loopback: where a browser treats the connection as its own (W3C Secure Contexts). */
export function isSecureUrl(url: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return url.protocol === 'https:' || isLoopbackHost(url.hostname)
}

/**
 * All spellings of one origin: on http loopback `localhost`, `127.0.0.1` and `[::1]` with the same port are one
 * application; anywhere else an origin is only itself.
 */
export function sameOrigins(origin: string): string[] {
  const url = new URL(origin)
  if (url.protocol !== 'http:' || !isLoopbackHost(url.hostname)) return [origin]
  const port = url.port === '' ? '' : `:${url.port}`
  return [...new Set([origin, ...['localhost', '127.0.0.1', '[::1]'].map((host) => `http://${host}${port}`)])]
}
