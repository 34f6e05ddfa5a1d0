import { expect, test } from 'vitest'
import { createCookieJar, parseSetCookie } from '../../src/testing/cookies.js'

const day = 86_400_000

const origin = new URL('https://app.example.test/auth/login')
const jarWith = (...lines: string[]) => {
  const jar = createCookieJar(() => 1_000)
  jar.receive(origin, lines)
  return jar
}
const sent = (jar: ReturnType<typeof createCookieJar>, to: string) => jar.header(new URL(to))

test('sends a cookie to its host and path, longer paths first', () => {
  const jar = jarWith('a=1; Path=/', 'b=2; Path=/auth', 'c=3', 'd=4; Path=/authors')
  expect(sent(jar, 'https://app.example.test/auth/refresh')).toBe('b=2; c=3; a=1')
  expect(sent(jar, 'https://app.example.test/auth')).toBe('b=2; c=3; a=1')
  expect(sent(jar, 'https://app.example.test/authors/1')).toBe('d=4; a=1')
  expect(sent(jar, 'https://example.test/auth')).toBeNull()
  expect(sent(jar, 'https://x.app.example.test/auth')).toBeNull()
})

test('sends a domain cookie below its domain, and takes none for a foreign one', () => {
  const jar = jarWith('a=1; Domain=example.test; Path=/', 'b=2; Domain=.other.test', 'c=3; Domain=b.app.example.test')
  expect(sent(jar, 'https://example.test/')).toBe('a=1')
  expect(sent(jar, 'https://deep.app.example.test/')).toBe('a=1')
  expect(sent(jar, 'https://badexample.test/')).toBeNull()
  expect(jar.all()).toHaveLength(1)
})

test('keeps secure cookies off http in both directions', () => {
  const jar = jarWith('a=1; Secure; Path=/', 'b=2; Path=/')
  expect(sent(jar, 'http://app.example.test/')).toBe('b=2')
  expect(jar.receive(new URL('http://app.example.test/'), ['c=3; Secure'])).toEqual([])
})

test.each([
  '__Host-a=1; Path=/',
  '__Host-a=1; Secure',
  '__Host-a=1; Secure; Path=/auth',
  '__Host-a=1; Secure; Path=/; Domain=app.example.test',
  '__hOST-a=1; Path=/',
  '__Secure-a=1; Path=/',
  'a=1; SameSite=None',
  'a=1; Partitioned',
  '=1',
  'a=1\u0001',
])('refuses «%s»', (line) => {
  expect(jarWith(line).all()).toEqual([])
})

test('refuses a cookie of more than 4,096 bytes', () => {
  expect(jarWith(`a=${'ü'.repeat(2_047)}x`, `b=${'ü'.repeat(2_048)}`).all()).toMatchObject([{ name: 'a' }])
})

test('takes prefixed cookies that keep their promise', () => {
  const jar = jarWith('__Host-a=1; Secure; Path=/', '__Secure-b=2; Secure; Path=/auth')
  expect(jar.all().map(({ name }) => name)).toEqual(['__Host-a', '__Secure-b'])
})

test('lets a cookie end by Max-Age before Expires, by its clock', () => {
  let now = 0
  const jar = createCookieJar(() => now)
  jar.receive(origin, [
    'a=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:01 GMT',
    'b=2; Expires=Thu, 01 Jan 1970 00:00:30 GMT',
    'c=3',
  ])
  now = 29_999
  expect(jar.all()).toHaveLength(3)
  now = 30_000
  expect([jar.get('a'), jar.get('b')]).toEqual(['1', null])
  now = 60_000
  expect(jar.all().map(({ name }) => name)).toEqual(['c'])
})

test('deletes a cookie that ends at once, only on the same path', () => {
  const jar = jarWith('a=1; Path=/', 'a=2; Path=/auth')
  jar.receive(origin, ['a=; Path=/auth; Max-Age=0'])
  expect(sent(jar, 'https://app.example.test/auth/x')).toBe('a=1')
  jar.receive(origin, ['a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT'])
  expect(jar.all()).toEqual([])
})

test('keeps a cookie at most 400 days', () => {
  expect(parseSetCookie('a=1; Max-Age=99999999999', origin, 0)?.expiresAt).toBe(400 * day)
})

test('forgets one cookie, or all', () => {
  const jar = jarWith('a=1', 'b=2', 'c=3')
  jar.clear('a')
  expect(jar.get('a')).toBeNull()
  jar.clear()
  expect(jar.all()).toEqual([])
})
