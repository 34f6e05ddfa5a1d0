import { createRequire } from 'node:module'
import type { stringifySetCookie } from 'cookie'
import { trimBlanks } from '../lib/http-blanks.js'
import { lateModule } from '../lib/late-module.js'
import type { Settings } from '../settings.js'

/** Loaded late: importing this CommonJS package at the start costs every process 5 MB. */
const cookiePackage = lateModule<{ stringifySetCookie: typeof stringifySetCookie }>(
  () => import('cookie'),
  () => createRequire(import.meta.url)('cookie'),
)

/** Loads the package that writes cookies. Without this call the first cookie loads it synchronously, which fails in bundles. */
export function prepareCookies(): Promise<void> {
  return cookiePackage.load()
}

/**
 * Our cookies: a new one is one line here.
 *
 * `wide` cookies have Path=/ and the prefix `__Host-`. `narrow` cookies go only below our own routes, which `__Host-` does
 * not allow (RFC 6265bis section 4.1.3.2), so their prefix is `__Secure-`.
 *
 * Only `shared` cookies follow the setting `cookies.domain`. Every other cookie proves that this browser started something
 * on this host. If a sibling host could set such a cookie, it could confirm an account that it registered for a victim.
 */
const cookieTable = {
  access: { name: 'access-token', reach: 'wide', shared: true },
  refresh: { name: 'refresh-token', reach: 'narrow', shared: true },
  /** The handle of the browser that registered. */
  registration: { name: 'registration', reach: 'wide', neverStrict: true },
  /** The handle of the browser that asked for a code. */
  otp: { name: 'otp', reach: 'wide' },
  /** Marks a browser that has signed in before. It is no credential. */
  device: { name: 'known-device', reach: 'wide' },
  /** A sign-in that waits for its second step. It gives access to that step only. */
  challenge: { name: 'two-factor', reach: 'wide' },
  /** The handle of the browser that went to a provider. It comes back from another site, so it is always Lax. */
  oauth: { name: 'oauth', reach: 'wide', sameSite: 'lax' },
  /** The handle of the browser that asked for a challenge of a passkey. */
  passkey: { name: 'passkey', reach: 'wide' },
  /** Shows the tool what a proxy does to cookies. It is no credential. */
  doctor: { name: 'doctor', reach: 'wide' },
} as const satisfies Record<string, CookieKind>

interface CookieKind {
  name: string
  reach: 'wide' | 'narrow'
  /** Hosts below `cookies.domain` get it, too. */
  shared?: true
  /** Replaces the setting: a cookie that must survive the return from another site is always Lax. */
  sameSite?: 'lax'
  /** Lax where the setting is strict: the page of a mailed link reads it, and a click in a webmail page is cross-site. */
  neverStrict?: true
}

/** Our cookies by short name. */
export type CookieName = keyof typeof cookieTable

/** Our cookies on one request: a value, or null when absent, empty or sent more than once. */
export type CookieJar = Readonly<Record<CookieName, string | null>>

/** The names that browsers see. */
export type CookieNames = Readonly<Record<CookieName, string>>

/** The cookies of a client that uses none. */
export const noCookies: CookieJar = Object.freeze(everyCookie(() => null))

type CookieSettings = Pick<Settings, 'cookies' | 'development'>

/** The longest time browsers keep a cookie (RFC 6265bis §5.5). */
const longestAgeSeconds = 400 * 24 * 60 * 60

/** Browsers drop a cookie with a longer name and value (RFC 6265bis §5.6). */
const longestPair = 4096

/** The characters of our tokens. None of them needs encoding. */
const plainValue = /^[\w.~-]*$/

/**
 * The names that browsers see, worked out once: `__Host-access-token`, with a suffix `__Host-access-token-<suffix>`.
 *
 * On http loopback (`development`) there is no prefix: prefixed names need Secure, which not every browser takes there.
 * With `domain` the shared cookies are `__Secure-`, because `__Host-` forbids Domain.
 */
export function cookieNames({ cookies, development }: CookieSettings): CookieNames {
  const nameOf = (short: CookieName): string => {
    const { name, reach }: CookieKind = cookieTable[short]
    const prefix = reach === 'wide' && domainOf(short, cookies) === null ? '__Host-' : '__Secure-'
    return `${development ? '' : prefix}${name}${cookies.suffix === '' ? '' : `-${cookies.suffix}`}`
  }
  return Object.freeze(everyCookie(nameOf))
}

const suffixed = new RegExp(
  `^(?:__Host-|__Secure-)?(?:${Object.values(cookieTable)
    .map(({ name }) => name)
    .join('|')})-(.+)$`,
)

/**
 * The suffix in a cookie name that `cookieNames` could have made. null for names without a suffix, and for all others.
 *
 * @example cookieSuffix('__Host-access-token-dev') // 'dev'
 */
export function cookieSuffix(name: string): string | null {
  return suffixed.exec(name)?.[1] ?? null
}

/** Our cookies of a `Cookie` header; see `readCookie` for what counts. */
export function readCookies(header: string | readonly string[] | undefined, names: CookieNames): CookieJar {
  return everyCookie((short) => readCookie(header, names[short]))
}

/**
 * The value of one cookie, as sent: nothing is decoded, quotes stay. null when it is absent, empty or sent twice, even with
 * equal values: a sibling host may have set the other one.
 *
 * It searches for the name instead of walking over the pairs, so a header of 15,000 semicolons costs no more than another.
 * Only SP and HTAB are trimmed: `trim()` removes further characters that browsers treat as part of the name, which would give
 * it a prefix it lacks.
 */
export function readCookie(header: string | readonly string[] | undefined, name: string): string | null {
  if (header === undefined) return null
  const text = typeof header === 'string' ? header : header.join('; ')
  const wanted = `${name}=`

  let start = -1
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    if (!startsPair(text, at)) continue
    if (start !== -1) return null
    start = at + wanted.length
  }
  if (start === -1) return null
  const next = text.indexOf(';', start)
  return trimBlanks(text.slice(start, next === -1 ? text.length : next)) || null
}

/**
 * A `Set-Cookie` line: HttpOnly, and Secure, SameSite, Partitioned and, for shared cookies, Domain by the settings.
 *
 * @param narrowPath Path of the narrow cookies; wide cookies always have `/`.
 * @throws {Error} when the value needs encoding or is too long for browsers to keep
 * @example serializeCookie('refresh', token, 2_592_000, settings, '/auth')
 */
export function serializeCookie(
  short: CookieName,
  value: string,
  maxAgeSeconds: number,
  settings: CookieSettings,
  narrowPath: string,
): string {
  const name = cookieNames(settings)[short]
  if (!plainValue.test(value)) throw new Error(`the value of the ${short} cookie needs encoding`)
  if (name.length + value.length > longestPair) throw new Error(`the ${short} cookie is too long for browsers`)

  const maxAge = Math.min(maxAgeSeconds, longestAgeSeconds)
  return cookiePackage.get().stringifySetCookie({ name, value, maxAge, ...attributesOf(short, settings, narrowPath) })
}

/** The `Set-Cookie` line that removes a cookie. It needs the same attributes, or the browser keeps the cookie. */
export function clearCookie(short: CookieName, settings: CookieSettings, narrowPath: string): string {
  const name = cookieNames(settings)[short]
  const gone = { name, value: '', maxAge: 0, expires: new Date(0) }
  return cookiePackage.get().stringifySetCookie({ ...gone, ...attributesOf(short, settings, narrowPath) })
}

function attributesOf(short: CookieName, { cookies, development }: CookieSettings, narrowPath: string) {
  const kind: CookieKind = cookieTable[short]
  const secure = cookies.secure || !development || cookies.sameSite === 'none'
  const domain = domainOf(short, cookies)
  return {
    path: kind.reach === 'wide' ? '/' : narrowPath || '/',
    httpOnly: true,
    secure,
    sameSite: kind.sameSite ?? (kind.neverStrict && cookies.sameSite === 'strict' ? 'lax' : cookies.sameSite),
    partitioned: cookies.partitioned && secure,
    ...(domain === null ? {} : { domain }),
  }
}

function domainOf(short: CookieName, { domain }: CookieSettings['cookies']): string | null {
  const { shared }: CookieKind = cookieTable[short]
  return shared ? domain : null
}

function startsPair(text: string, at: number): boolean {
  let before = at - 1
  while (before >= 0 && isBlank(text, before)) before -= 1
  return before === -1 || text[before] === ';'
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 32 || code === 9
}

function everyCookie<T>(make: (short: CookieName) => T): Record<CookieName, T> {
  return {
    access: make('access'),
    refresh: make('refresh'),
    registration: make('registration'),
    otp: make('otp'),
    device: make('device'),
    challenge: make('challenge'),
    oauth: make('oauth'),
    passkey: make('passkey'),
    doctor: make('doctor'),
  }
}

/** The device cookie does not count: it gives no access. */
export function holdsCredential({ access, refresh, registration, otp, challenge, oauth, passkey }: CookieJar): boolean {
  return [access, refresh, registration, otp, challenge, oauth, passkey].some((held) => held !== null)
}
