import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CookieSpace, cookiesFor, setCookieOf } from '../../../src/host/front/headers.js'
import { cookieNames, readCookie } from '../../../src/http/cookies.js'
import { readVectors } from '../../support/vectors.js'

const space: CookieSpace = { name: 'dev', path: '/dev', isSpace: (name) => name === 'dev' || name === 'prod' }

/** Every name that a Latchkey with this suffix gives its cookies, outside and in development, with and without a domain. */
function namesOf(suffix: string): string[] {
  const cookies = { sameSite: 'lax', secure: true, partitioned: false, suffix } as const
  return [true, false].flatMap((development) =>
    [null, 'example.org'].flatMap((domain) =>
      Object.values(cookieNames({ development, cookies: { ...cookies, domain } })),
    ),
  )
}

describe('cookiesFor', () => {
  test('what is not foreign passes as sent, byte for byte', () => {
    const header = `a=1;b="x;  __Host-access-token-dev=t; access-token=u; oauth-state=1; =x; y; ${'z'.repeat(9)}=`
    expect(cookiesFor(space, header)).toBe(header)
  })

  test.each([...namesOf('host'), ...namesOf('prod')])('ATK-180 ATK-188 %s never reaches the child of dev', (name) => {
    expect(cookiesFor(space, `a=1; ${name}=secret; b=2`)).toBe('a=1; b=2')
    expect(cookiesFor(space, `${name}=secret`)).toBeNull()
    expect(cookiesFor(space, `${name}=secret;${name}=secret;\t${name} =secret`)).toBeNull()
  })

  test.each(namesOf('dev'))('the own cookie %s does', (name) => {
    expect(cookiesFor(space, `${name}=t`)).toBe(`${name}=t`)
  })

  test('ATK-188 the cookies of a space in which nothing is deployed do not pass either', () => {
    expect(cookiesFor({ ...space, isSpace: (name) => name === 'asleep' }, 'a=1; __Host-otp-asleep=x')).toBe('a=1')
  })

  test('cookies of the application that only look alike pass', () => {
    const header = 'oauth-state=1; otp-code=2; __Host-otp-unknown=3; xaccess-token-prod=4; access-token-prod-x=5'
    expect(cookiesFor(space, header)).toBe(header)
  })

  test('ATK-188 dropping one cookie makes no foreign name of the next', () => {
    const odd = '\u00a0__Host-oauth-host=v'
    expect(cookiesFor(space, `access-token-host=v;${odd}`)).toBe(odd)
  })

  test('ATK-188 whatever the header is made of, a Latchkey in the child finds no foreign cookie in it', () => {
    const bare = [...namesOf('prod'), ...namesOf('host')].map((name) => name.replace(/^__\w+-/, ''))
    const foreign = ['', '__Host-', '__Secure-'].flatMap((prefix) => bare.map((name) => prefix + name))
    const { cookie_header_cases: cases } = readVectors<{ cookie_header_cases: { cookie_header: string | string[] }[] }>(
      'cookies',
    )
    const vectors = cases.map(({ cookie_header }) => [cookie_header].flat().join('; ').replaceAll('at=', 'otp-prod='))
    const part = fc.oneof(
      fc.constantFrom(...foreign, ...foreign.map((name) => `${name}=v`)),
      fc.constantFrom('=', ';', ' ', '\t', '; ', ',', '"', 'a=1', '\u00a0', '\ufeff', '$Path', '%3D', '\\'),
      fc.string({ maxLength: 3 }),
    )
    const header = fc.oneof(
      fc.constantFrom(...vectors),
      fc.array(part, { maxLength: 12 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(header, (sent) => {
        const left = cookiesFor(space, sent)
        for (const name of foreign) expect(readCookie(left ?? undefined, name)).toBeNull()
        // Nothing else is lost or made.
        const kept = (left ?? '').split(';').map((pair) => pair.trim())
        for (const pair of sent.split(';').map((text) => text.trim())) {
          const isForeign = foreign.includes(pair.split('=')[0]?.replaceAll(/[ \t]+$/g, '') ?? '') && pair.includes('=')
          if (!isForeign && pair !== '') expect(kept).toContain(pair)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('setCookieOf', () => {
  test.each([
    ['a=1', '/dev/x/y', 'a=1'],
    ['a=1; Path=/dev; HttpOnly', '/dev/x', 'a=1; Path=/dev; HttpOnly'],
    ['a=1; path=/dev/x;Secure', '/dev/x', 'a=1; path=/dev/x;Secure'],
    ['__Host-a=1; Path=/; Secure', '/dev/x', '__Host-a=1; Path=/; Secure'],
    ['__Host-access-token-dev=t; Path=/; Secure', '/dev/x', '__Host-access-token-dev=t; Path=/; Secure'],
  ])('%s passes as the application wrote it', (line, path, expected) => {
    expect(setCookieOf(space, line, path)).toBe(expected)
  })

  test.each([
    ['a=1; Path=/', 'a=1; Path=/dev'],
    ['a=1; Path=/; HttpOnly', 'a=1; HttpOnly; Path=/dev'],
    ['a=1;PATH=/prod', 'a=1; Path=/dev'],
    ['a=1; Path=/devil', 'a=1; Path=/dev'],
    ['a=1; Path=/dev; Path=/', 'a=1; Path=/dev'],
    ['a=1; Path=/; Path=/dev', 'a=1; Path=/dev'],
    ['a=1; path = /prod/auth', 'a=1; Path=/dev'],
    ['__host-a=1; Path=/', '__host-a=1; Path=/dev'],
    ['__Secure-refresh-token-dev=t; Path=/auth; Secure', '__Secure-refresh-token-dev=t; Secure; Path=/dev'],
    ['a=1; Domain=example.org; Path=/dev', 'a=1; Path=/dev'],
    ['a=1; domain=.example.org;DOMAIN=x', 'a=1; Path=/dev'],
    ['__Host-a=1; Domain=example.org; Path=/; Secure', '__Host-a=1; Path=/; Secure'],
  ])('ATK-156 %s becomes %s', (line, expected) => {
    expect(setCookieOf(space, line, '/dev')).toBe(expected)
  })

  test('ATK-156 a cookie without a path gets that of the space where browsers would take the root', () => {
    expect(setCookieOf(space, 'a=1', '/dev')).toBe('a=1; Path=/dev')
    expect(setCookieOf(space, 'a=1; Path=', '/dev')).toBe('a=1; Path=/dev')
    expect(setCookieOf(space, 'a=1; Path', '/dev/')).toBe('a=1; Path')
  })

  test.each([...namesOf('host'), ...namesOf('prod')])('ATK-180 ATK-188 a space cannot set %s', (name) => {
    expect(setCookieOf(space, `${name}=x; Path=/; Secure`, '/dev/x')).toBeNull()
    expect(setCookieOf(space, ` ${name} =x`, '/dev/x')).toBeNull()
  })

  test('ATK-188 nor a cookie without a name, whose value browsers would send as a name', () => {
    for (const line of ['=__Host-otp-prod=x; Path=/dev', '__Host-otp-prod', ' =access-token-host=x', '', ';Path=/']) {
      expect(setCookieOf(space, line, '/dev/x')).toBeNull()
    }
  })
})
