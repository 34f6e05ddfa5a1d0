import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { hostsOf, readTarget, requireHost } from '../../../src/host/front/target.js'
import { readVectors } from '../../support/vectors.js'

const hosts = hostsOf(new URL('https://api.example.org'))

/** The target, or the code of the refusal. */
function read(url: string) {
  try {
    return readTarget(url, hosts)
  } catch (error) {
    if (error instanceof AuthError) return error.code
    throw error
  }
}

/** How readers of other programs find the first segment: each of these must agree with ours, or we refuse. */
const otherReaders: readonly ((path: string) => string | undefined)[] = [
  (path) => path.split('/')[1],
  (path) => path.split('/').find((segment) => segment !== ''),
  (path) => new URL(path, 'http://x').pathname.split('/')[1],
  (path) => decodeURIComponent(path).split('/')[1],
  (path) => decodeURIComponent(new URL(path, 'http://x').pathname).split('/')[1],
  (path) => path.replaceAll('\\', '/').split('/')[1],
  (path) => path.replaceAll(/;[^/]*/g, '').split('/')[1],
  (path) => new URL(decodeURIComponent(path).replaceAll(/\/+/g, '/'), 'http://x').pathname.split('/')[1],
]

describe('readTarget', () => {
  test.each([
    ['/dev/orders?limit=1', { space: 'dev', path: '/dev/orders', query: 'limit=1' }],
    ['/dev', { space: 'dev', path: '/dev', query: '' }],
    ['/dev/', { space: 'dev', path: '/dev/', query: '' }],
    ['/dev?x', { space: 'dev', path: '/dev', query: 'x' }],
    ['/dev/a/../b', { space: 'dev', path: '/dev/a/../b', query: '' }],
    ['/dev/caf%C3%A9', { space: 'dev', path: '/dev/caf%C3%A9', query: '' }],
    ['/dev/.well-known/x', { space: 'dev', path: '/dev/.well-known/x', query: '' }],
    ['/dev/a;b', { space: 'dev', path: '/dev/a;b', query: '' }],
    ['/dev/x?next=/../prod//x', { space: 'dev', path: '/dev/x', query: 'next=/../prod//x' }],
    ['/', { space: '', path: '/', query: '' }],
    ['https://api.example.org/dev/x?y=1', { space: 'dev', path: '/dev/x', query: 'y=1' }],
    ['https://API.example.org', { space: '', path: '/', query: '' }],
  ])('%s is read as sent', (url, target) => {
    expect(read(url)).toEqual(target)
  })

  test.each([
    '/dev/../prod/x',
    '/dev%2f..%2fprod',
    '/dev/..%2fprod',
    '/dev/%2e%2e/prod',
    '/dev/..;/prod/x',
    '//dev',
    '//dev/x',
    '/./dev/x',
    '/%64ev/x',
    '/dev/%252e/../prod',
    '/dev/%252e%252E/prod',
    '/dev;x',
    '/dev;/x',
    '/dev%3Bx',
    '/dev\\..\\prod',
    '/dev%5c..%5cprod',
    '/dev/%zz',
    '/dev%20/x',
    '/dev/x#y',
    '/dev/x?y#z',
    '*',
    '',
    'dev/x',
    '?x',
    'ftp://api.example.org/dev',
    'http:///dev',
    'https://api.example.org?/dev',
    'https://user@api.example.org/dev',
    'https://api.example.org\\dev',
  ])('ATK-147 %s is refused: readers could find another space', (url) => {
    expect(read(url)).toBe('invalid_request')
  })

  test.each(['https://evil.example/dev/x', 'https://api.example.org:444/dev', 'http://api.example.org.evil.example/'])(
    'ATK-147 the absolute target %s is of another host',
    (url) => {
      expect(read(url)).toBe('wrong_host')
    },
  )

  test('ATK-147 names are exact: /DEV names a space of that name, if there is one', () => {
    expect(read('/DEV/x')).toMatchObject({ space: 'DEV' })
  })

  test('ATK-147 no vector of the guard reaches the space api under another name', () => {
    const { cases } = readVectors<{ cases: { target: string }[] }>('path-bypass')
    for (const { target } of cases) {
      const found = read(target)
      if (typeof found === 'string') continue
      expect([target, found.space]).toEqual([target, target.split(/[/?]/)[1]])
      expect([target, found.path + (found.query && `?${found.query}`)]).toEqual([target, target])
    }
  })

  test('ATK-147 every reader finds the space that we found, whatever the path is made of', () => {
    const part = fc.constantFrom(
      ...['dev', 'prod', 'a', '.', '..', '', ';', ';x', '%2e', '%2E%2e', '%2f', '%5c', '\\', '%64ev', '%00', '%20'],
      ...['DEV', '~', 'é', '%C3%A9', '%e2%80%8b', '．', '％', '%EF%BC%8F', '@', ':', 'x?', '#', '%', '%25', '%252e'],
    )
    const path = fc
      .array(fc.tuple(fc.constantFrom('/', '/', '/', '//', '\\', ''), part), { minLength: 1, maxLength: 8 })
      .map((parts) => `/${parts.flat().join('')}`)
    fc.assert(
      fc.property(path, (url) => {
        const found = read(url)
        // No space has another name.
        if (typeof found === 'string' || !/^[a-z][a-z0-9-]*$/i.test(found.space)) return
        expect(found.path.split('?')[0]).toBe(url.split('?')[0])
        for (const reader of otherReaders) expect(reader(found.path) ?? '').toBe(found.space)
      }),
      { numRuns: 3_000, examples: [['/dev/%252e/../%EF%BC%8F'], ['/dev/../%64ev'], ['/a//..\\%EF%BC%8F/a/dev']] },
    )
  })
})

describe('requireHost', () => {
  const accepts = (host: string | null, baseUrl: string) => {
    try {
      requireHost(host, hostsOf(new URL(baseUrl)))
      return true
    } catch {
      return false
    }
  }

  test('the host of baseUrl counts, in any case', () => {
    expect(accepts('api.example.org', 'https://api.example.org/base')).toBe(true)
    expect(accepts('API.Example.org', 'https://api.example.org')).toBe(true)
    expect(accepts('api.example.org:8443', 'https://api.example.org:8443')).toBe(true)
  })

  test.each([
    null,
    '',
    'evil.example',
    'api.example.org:444',
    'api.example.org.',
    'api.example.org@evil.example',
    'localhost',
  ])('ATK-156 %s is another host', (host) => {
    expect(accepts(host, 'https://api.example.org')).toBe(false)
  })

  test('in development the loopback names with the same port count as one', () => {
    for (const host of ['localhost:4310', '127.0.0.1:4310', '[::1]:4310']) {
      expect(accepts(host, 'http://127.0.0.1:4310')).toBe(true)
    }
    expect(accepts('localhost:4311', 'http://127.0.0.1:4310')).toBe(false)
    expect(accepts('localhost', 'http://127.0.0.1:4310')).toBe(false)
  })
})
