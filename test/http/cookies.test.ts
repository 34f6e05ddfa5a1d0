import { parseCookie, parseSetCookie } from 'cookie'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CookieName,
  clearCookie,
  cookieNames,
  noCookies,
  readCookie,
  readCookies,
  serializeCookie,
} from '../../src/http/cookies.js'
import { createTokens } from '../../src/tokens/jwt.js'
import { accessClaims, refreshClaims, tokenSettings } from '../support/tokens.js'
import { readVectors } from '../support/vectors.js'

const plain = { sameSite: 'lax', domain: null, secure: true, partitioned: false, suffix: '' } as const
const https = { development: false, cookies: plain }
const loopback = { development: true, cookies: { ...plain, secure: false } }
const crossSite = { development: false, cookies: { ...plain, sameSite: 'none', partitioned: true } } as const

const tokens = createTokens(tokenSettings)
const good = tokens.signAccess(accessClaims)
const evil = tokens.signAccess({ ...accessClaims, sub: 'mallory' })
const refresh = tokens.signRefresh(refreshClaims)
const names = cookieNames(https)
const shorts: readonly CookieName[] = ['access', 'refresh', 'registration', 'otp', 'device']

describe('names', () => {
  test('a prefix makes the browser hold them to https and to this host', () => {
    expect(names).toEqual({
      access: '__Host-access-token',
      refresh: '__Secure-refresh-token',
      registration: '__Host-registration',
      otp: '__Host-otp',
      device: '__Host-known-device',
      challenge: '__Host-two-factor',
      oauth: '__Host-oauth',
      passkey: '__Host-passkey',
      doctor: '__Host-doctor',
    })
  })

  test('http on loopback has the same names without prefix', () => {
    expect(cookieNames(loopback)).toEqual({
      access: 'access-token',
      refresh: 'refresh-token',
      registration: 'registration',
      otp: 'otp',
      device: 'known-device',
      challenge: 'two-factor',
      oauth: 'oauth',
      passkey: 'passkey',
      doctor: 'doctor',
    })
  })

  test('ATK-214 with a domain only the access and refresh cookies are shared, all others stay bound to one host', () => {
    expect(cookieNames({ ...https, cookies: { ...plain, domain: 'example.com' } })).toEqual({
      access: '__Secure-access-token',
      refresh: '__Secure-refresh-token',
      registration: '__Host-registration',
      otp: '__Host-otp',
      device: '__Host-known-device',
      challenge: '__Host-two-factor',
      oauth: '__Host-oauth',
      passkey: '__Host-passkey',
      doctor: '__Host-doctor',
    })
  })

  test('a suffix keeps two apps on one host apart', () => {
    const one = cookieNames({ ...https, cookies: { ...plain, suffix: 'one' } })
    expect(one.access).toBe('__Host-access-token-one')
    expect(one.refresh).toBe('__Secure-refresh-token-one')
    expect(readCookies(`${names.access}=a; ${names.refresh}=b`, one)).toEqual(noCookies)
    expect(readCookies(`${one.access}=a; ${names.access}=b`, names).access).toBe('b')
  })
})

describe('ATK-080 Set-Cookie', () => {
  const { set_cookie_requirements: requirements } = readVectors<{ set_cookie_requirements: { id: string }[] }>(
    'cookies',
  )

  test('every requirement of the vectors has its test here', () => {
    expect(requirements.map(({ id }) => id)).toEqual([
      ...['access', 'refresh', 'cross-site-mode', 'http-dev', 'lifetime', 'size', 'clear-on-logout', 'value-chars'],
      'cache', // the answers are built in problem.ts: its tests look for no-store
    ])
  })

  test('ATK-080 access: bound to the host, for no script, for no other site', () => {
    expect(serializeCookie('access', good, 900, https, '/auth')).toBe(
      `__Host-access-token=${good}; Max-Age=900; Path=/; HttpOnly; Secure; SameSite=Lax`,
    )
  })

  test('ATK-080 refresh: goes to our own routes only', () => {
    expect(serializeCookie('refresh', refresh, 2_592_000, https, '/shop/auth')).toBe(
      `__Secure-refresh-token=${refresh}; Max-Age=2592000; Path=/shop/auth; HttpOnly; Secure; SameSite=Lax`,
    )
    expect(parseSetCookie(serializeCookie('refresh', refresh, 1, https, '')).path).toBe('/')
  })

  test('ATK-080 cross-site-mode: None always with Secure, Partitioned when asked for', () => {
    expect(serializeCookie('access', 'x', 900, crossSite, '/auth')).toBe(
      '__Host-access-token=x; Max-Age=900; Path=/; HttpOnly; Secure; Partitioned; SameSite=None',
    )
    const onLoopback = { development: true, cookies: { ...crossSite.cookies, secure: false } }
    expect(parseSetCookie(serializeCookie('access', 'x', 900, onLoopback, '/auth'))).toMatchObject({
      name: 'access-token',
      secure: true,
      sameSite: 'none',
    })
  })

  test('ATK-080 http-dev: neither prefix nor Secure nor Partitioned on http loopback', () => {
    const partitioned = { ...loopback, cookies: { ...loopback.cookies, partitioned: true } }
    expect(serializeCookie('access', 'x', 900, partitioned, '/auth')).toBe(
      'access-token=x; Max-Age=900; Path=/; HttpOnly; SameSite=Lax',
    )
  })

  test('strict is what every cookie is then but those that must come along from a provider or a mail', () => {
    const kinds = [...shorts, 'challenge', 'oauth'] as const
    const sameSite = (setting: 'strict' | 'none' | 'lax') =>
      kinds.map((short) => {
        const settings = { ...https, cookies: { ...plain, sameSite: setting } }
        return parseSetCookie(serializeCookie(short, 'x', 900, settings, '/auth')).sameSite
      })
    expect(sameSite('strict')).toEqual(['strict', 'strict', 'lax', 'strict', 'strict', 'strict', 'lax'])
    expect(sameSite('none')).toEqual(['none', 'none', 'none', 'none', 'none', 'none', 'lax'])
    expect(sameSite('lax')).toEqual(kinds.map(() => 'lax'))
  })

  test('ATK-080 off loopback Secure does not depend on the setting', () => {
    const insecure = { ...https, cookies: { ...plain, secure: false } }
    expect(parseSetCookie(serializeCookie('access', 'x', 900, insecure, '/auth')).secure).toBe(true)
  })

  test('ATK-080 ATK-214 a domain is named on the access and refresh cookies alone', () => {
    const shared = { ...https, cookies: { ...plain, domain: 'example.com' } }
    for (const short of shorts) {
      const domain = short === 'access' || short === 'refresh' ? 'example.com' : undefined
      expect(parseSetCookie(serializeCookie(short, 'x', 900, shared, '/auth')).domain).toBe(domain)
      expect(parseSetCookie(serializeCookie(short, 'x', 900, https, '/auth')).domain).toBeUndefined()
    }
  })

  test('ATK-080 lifetime: Max-Age is what was asked for, at most 400 days', () => {
    expect(parseSetCookie(serializeCookie('registration', 'x', 86_400, https, '/auth')).maxAge).toBe(86_400)
    expect(parseSetCookie(serializeCookie('registration', 'x', 99_999_999, https, '/auth')).maxAge).toBe(34_560_000)
  })

  test('ATK-080 size: what browsers would drop is not sent, and all cookies together stay under 4 KiB', () => {
    const room = 4096 - names.access.length
    expect(serializeCookie('access', 'x'.repeat(room), 900, https, '/auth')).toContain('Path=/')
    expect(() => serializeCookie('access', 'x'.repeat(room + 1), 900, https, '/auth')).toThrow('too long')

    const handle = 'h'.repeat(43)
    const header = `${names.access}=${good}; ${names.refresh}=${refresh}; ${names.registration}=${handle}`
    expect(header.length).toBeLessThan(1500)
  })

  test.each(shorts)('ATK-080 clear-on-logout: %s is cleared under the name and attributes it was set with', (short) => {
    for (const settings of [https, loopback, crossSite]) {
      const set = parseSetCookie(serializeCookie(short, 'x', 900, settings, '/auth'))
      const cleared = parseSetCookie(clearCookie(short, settings, '/auth'))
      expect(cleared).toEqual({ ...set, value: '', maxAge: 0, expires: new Date(0) })
    }
    expect(clearCookie(short, https, '/auth')).toContain('Expires=Thu, 01 Jan 1970 00:00:00 GMT')
  })

  test.each(['a b', 'a"b', 'a,b', 'a;b', 'a\\b', 'a\r\nSet-Cookie: x=y', 'é', 'a%20b', '\u0000'])(
    'ATK-080 value-chars: %j is refused',
    (value) => {
      expect(() => serializeCookie('access', value, 900, https, '/auth')).toThrow('needs encoding')
    },
  )
})

describe('ATK-081 Cookie', () => {
  interface HeaderCase {
    id: string
    cookie_header: string | string[]
    expect: string
  }
  const { cookie_header_cases: cases } = readVectors<{ cookie_header_cases: HeaderCase[] }>('cookies')

  /** The vectors speak of `__Host-at`, GOOD and EVIL; here they are our own name and two sound tokens. */
  function real(header: string): string {
    return header
      .replace(/(__host(?:-|%2D))at\b/gi, '$1access-token')
      .replace('__Secure-at', '__Secure-access-token')
      .replace(/^at=/, 'access-token=')
      .replaceAll('GOOD', good)
      .replaceAll('EVIL', evil)
      .replace('GO%4FD', good.replace('.', '%2E'))
  }

  /** What the verdict of the vectors means for who is signed in. */
  const decided = new Map([
    ['dup-same-name-2', null],
    ['legacy-version', 'mallory'], // one cookie of that name, and `$Version` another of its own
    ['quoted', null], // quotes are a part of the value
  ])

  test.each(cases)('ATK-081 $id', ({ id, cookie_header, expect: wanted }) => {
    const header = Array.isArray(cookie_header) ? cookie_header.map(real) : real(cookie_header)
    const value = readCookie(header, names.access)
    const user = value === null ? null : (tokens.checkAccess(value)?.sub ?? null)
    expect(readCookies(header, names).access).toBe(value)
    const byVector = wanted === 'GOOD' ? accessClaims.sub : null
    expect(user).toBe(decided.has(id) ? decided.get(id) : byVector)
  })

  test('every decision belongs to a vector', () => {
    expect([...decided.keys()].filter((id) => !cases.some((one) => one.id === id))).toEqual([])
  })

  test('ATK-081 a value keeps its equals signs, quotes and percent signs as they were sent', () => {
    expect(readCookie(`${names.access}=a=b=c`, names.access)).toBe('a=b=c')
    expect(readCookie(`${names.access}="a%20b"`, names.access)).toBe('"a%20b"')
  })

  test.each([
    ['different', `${names.access}=a; ${names.access}=b`],
    ['equal', `${names.access}=a; ${names.access}=a`],
    ['one empty', `${names.access}=; ${names.access}=a`],
    ['far apart', `${names.access}=a; ${'x=y; '.repeat(500)}${names.access}=b`],
  ])('ATK-077 the same name twice is no credential: %s', (_, header) => {
    expect(readCookie(header, names.access)).toBeNull()
  })

  test.each(['x', 'access-token', '__Host-access-token-two', 'x__Host-access-token', '__Host-access-tokenx'])(
    'ATK-081 a cookie named %s is not ours',
    (name) => {
      expect(readCookie(`${name}=a`, names.access)).toBeNull()
      expect(readCookie(`${name}=a; ${names.access}=b`, names.access)).toBe('b')
    },
  )

  test.each(['\u00a0', '\ufeff', '\u2000', '\u2028', '\u3000', '\u0085', '\v', '\f', '\r', '\n', '"', ',', '='])(
    'ATK-081 %j before a name makes it another name',
    (character) => {
      expect(readCookie(`a=b; ${character}${names.access}=x`, names.access)).toBeNull()
      expect(readCookie(`${names.access}${character}=x`, names.access)).toBe(character === '=' ? '=x' : null)
    },
  )

  test('a name inside another cookie’s value is no cookie', () => {
    expect(readCookie(`a=${names.access}=x; b= ${names.access}=y`, names.access)).toBeNull()
  })

  test('ATK-077 tens of thousands of pairs and of near misses are read in one pass', () => {
    const pairs = `${'a=1; '.repeat(50_000)}${names.access}=x`
    const misses = `${`${names.access} `.repeat(20_000)}; ${names.access}=x`
    const blanks = `${`${' '.repeat(5_000)}${names.access}`.repeat(200)}; ${names.access}=x`
    for (const header of [pairs, misses, blanks]) expect(readCookie(header, names.access)).toBe('x')
  })

  test('ATK-216 reads as a visit to each pair would, whatever a client sends', () => {
    const piece = fc.constantFrom('a', 'a=', 'ba=', '=', ';', ' ', '\t', '\u00a0', '1', '; ')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const header = pieces.join('')
        const pairs = header.split(';').map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
        const values = pairs.filter((pair) => pair.startsWith('a=')).map((pair) => pair.slice(2).replace(/^[ \t]+/, ''))
        expect(readCookie(header, 'a')).toBe(values.length === 1 ? values[0] || null : null)
      }),
    )
  })

  test('reads what the cookie package reads wherever no name is repeated', () => {
    const name = fc.constantFrom(...Object.values(names), 'a', '__Host-access', 'token', '$Version')
    const value = fc.stringMatching(/^[\w.=!#$&'()*+/:<>?@[\]^`{|}~-]{0,12}$/)
    const separator = fc.constantFrom('; ', ';', ' ;\t', ';;', ' ; ')
    const pairs = fc.uniqueArray(fc.tuple(name, value, separator), { selector: ([first]) => first })
    fc.assert(
      fc.property(pairs, (all) => {
        const header = all.map((pair) => `${pair[0]}=${pair[1]}${pair[2]}`).join('')
        const theirs = parseCookie(header, { decode: (text) => text })
        for (const short of shorts) expect(readCookie(header, names[short])).toBe(theirs[names[short]] || null)
      }),
    )
  })
})
