import { trimBlanks } from '../lib/http-blanks.js'

/** A cookie as a browser keeps it. */
export interface TestCookie {
  name: string
  value: string
  /** Without a leading dot. */
  domain: string
  /** Sent to that host alone, not to those below it. */
  hostOnly: boolean
  path: string
  secure: boolean
  httpOnly: boolean
  sameSite: 'lax' | 'strict' | 'none' | null
  partitioned: boolean
  /** Unix milliseconds; null ends with the browser. */
  expiresAt: number | null
}

/** A browser's cookies, after RFC 6265bis. */
export interface CookieJar {
  /** The value of the cookie with that name; null when there is none. Of two with one name, the one sent first. */
  get(name: string): string | null
  /** Every live cookie. */
  all(): TestCookie[]
  /** Takes `Set-Cookie` lines that an answer from that address carried, as far as a browser would. Returns those it took. */
  receive(from: URL, lines: readonly string[]): TestCookie[]
  /** The `Cookie` header for a request to that address; null when there is nothing to send. */
  header(to: URL): string | null
  /** Puts a cookie in, or over one of the same name, domain and path. */
  put(cookie: TestCookie): void
  /** Forgets every cookie, or those of that name. */
  clear(name?: string): void
}

/**
 * Makes an empty jar that keeps the rules a browser has and a server can fall foul of: domain and path matching, `Secure`
 * only over https, the prefixes `__Host-` and `__Secure-`, `Max-Age` before `Expires`, deletion, 4,096 bytes.
 *
 * Stricter than Chromium in one point: `Secure` counts on http loopback too.
 *
 * @param now The clock that cookies expire by, Unix milliseconds.
 */
export function createCookieJar(now: () => number): CookieJar {
  const cookies = new Map<string, TestCookie>()
  const live = () => [...cookies.values()].filter((cookie) => !isOver(cookie, now()))

  function put(cookie: TestCookie): void {
    const key = JSON.stringify([cookie.name, cookie.domain, cookie.hostOnly, cookie.path])
    if (isOver(cookie, now())) cookies.delete(key)
    else cookies.set(key, cookie)
  }

  return {
    put,
    get: (name) => inSendingOrder(live()).find((cookie) => cookie.name === name)?.value ?? null,
    all: live,
    receive(from, lines) {
      const taken = lines.map((line) => parseSetCookie(line, from, now())).filter((cookie) => cookie !== null)
      for (const cookie of taken) put(cookie)
      return taken
    },
    header(to) {
      const sent = inSendingOrder(live().filter((cookie) => goesTo(cookie, to)))
      return sent.length === 0 ? null : sent.map(({ name, value }) => `${name}=${value}`).join('; ')
    },
    clear(name) {
      for (const [key, cookie] of cookies) if (name === undefined || cookie.name === name) cookies.delete(key)
    },
  }
}

const MAX_COOKIE_BYTES = 4_096
const MAX_ATTRIBUTE_BYTES = 1_024
/** 400 days, RFC 6265bis §5.5. */
const MAX_AGE_SECONDS = 34_560_000

/** What a browser makes of one `Set-Cookie` line; null when it would refuse the cookie. */
export function parseSetCookie(line: string, from: URL, now: number): TestCookie | null {
  const [pair = '', ...rest] = line.split(';')
  const [name, value] = halves(pair)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers refuse exactly these, RFC 6265bis §5.6.
  if (/[\0-\x08\x0a-\x1f\x7f]/.test(line) || name === '' || bytes(name) + bytes(value) > MAX_COOKIE_BYTES) return null

  const attributes = attributesOf(rest)
  const domain = attributes.get('domain')?.replace(/^\./, '').toLowerCase() ?? ''
  if (domain !== '' && !belongsTo(from.hostname, domain)) return null

  const cookie: TestCookie = {
    name,
    value,
    domain: domain === '' ? from.hostname : domain,
    hostOnly: domain === '',
    path: cookiePath(attributes.get('path'), from),
    secure: attributes.has('secure'),
    httpOnly: attributes.has('httponly'),
    sameSite: sameSiteOf(attributes.get('samesite')),
    partitioned: attributes.has('partitioned'),
    expiresAt: endOf(attributes, now),
  }
  return isAllowed(cookie, from, attributes) ? cookie : null
}

function isAllowed(cookie: TestCookie, from: URL, attributes: ReadonlyMap<string, string>): boolean {
  if (cookie.secure && from.protocol !== 'https:') return false
  if ((cookie.sameSite === 'none' || cookie.partitioned) && !cookie.secure) return false
  if (/^__secure-/i.test(cookie.name)) return cookie.secure
  if (/^__host-/i.test(cookie.name)) return cookie.secure && cookie.hostOnly && attributes.get('path') === '/'
  return true
}

function attributesOf(parts: readonly string[]): Map<string, string> {
  const pairs = parts.map(halves).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  return new Map(pairs.filter(([, value]) => bytes(value) <= MAX_ATTRIBUTE_BYTES))
}

function halves(pair: string): [string, string] {
  const equals = pair.indexOf('=')
  if (equals === -1) return [trimBlanks(pair), '']
  return [trimBlanks(pair.slice(0, equals)), trimBlanks(pair.slice(equals + 1))]
}

function cookiePath(path: string | undefined, from: URL): string {
  if (path?.startsWith('/')) return path
  const end = from.pathname.lastIndexOf('/')
  return end <= 0 ? '/' : from.pathname.slice(0, end)
}

function sameSiteOf(value: string | undefined): TestCookie['sameSite'] {
  const known = value?.toLowerCase()
  return known === 'lax' || known === 'strict' || known === 'none' ? known : null
}

/** `Max-Age` wins over `Expires` (§5.5); what cannot be read counts as not there. */
function endOf(attributes: ReadonlyMap<string, string>, now: number): number | null {
  const maxAge = attributes.get('max-age') ?? ''
  if (/^-?\d+$/.test(maxAge)) return now + Math.min(Number(maxAge), MAX_AGE_SECONDS) * 1_000
  const expires = Date.parse(attributes.get('expires') ?? '')
  return Number.isNaN(expires) ? null : Math.min(expires, now + MAX_AGE_SECONDS * 1_000)
}

function isOver(cookie: TestCookie, now: number): boolean {
  return cookie.expiresAt !== null && cookie.expiresAt <= now
}

function goesTo(cookie: TestCookie, to: URL): boolean {
  const hostFits = cookie.hostOnly ? to.hostname === cookie.domain : belongsTo(to.hostname, cookie.domain)
  return hostFits && pathFits(cookie.path, to.pathname) && (!cookie.secure || to.protocol === 'https:')
}

function belongsTo(host: string, domain: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && !/^[\d.]+$|:/.test(host))
}

/** §5.1.4: `/auth` covers `/auth` and `/auth/x`, not `/authx`. */
function pathFits(cookiePath: string, path: string): boolean {
  if (path === cookiePath) return true
  return path.startsWith(cookiePath) && (cookiePath.endsWith('/') || path[cookiePath.length] === '/')
}

/** §5.7.3: longer paths first, else the older first. */
function inSendingOrder(cookies: readonly TestCookie[]): TestCookie[] {
  return [...cookies].sort((one, other) => other.path.length - one.path.length)
}

function bytes(text: string): number {
  return Buffer.byteLength(text)
}
