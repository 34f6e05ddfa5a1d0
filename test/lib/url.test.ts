import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLoopbackHost, isSecureUrl, parseHttpUrl, parseOrigin, safeRedirect, sameOrigins } from '../../src/lib/url.js'

interface Vectors {
  payloads: { payload: string; expect: 'allow' | 'deny' | 'policy'; why?: string }[]
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../vectors/open-redirects.json', import.meta.url), 'utf8'))
const origin = 'https://app.example.test'
const spa = 'https://spa.example.test'

/** Where the list leaves it to us. */
const policy: Readonly<Record<string, boolean>> = {
  'https://app.example.test/x': false,
  '/app%0d%0aSet-Cookie:%20a=b': false,
  '/app%E5%98%8A%E5%98%8DSet-Cookie:a=b': true,
  '/auth/logout': true,
}

describe('redirect targets', () => {
  test.each(vectors.payloads.map((entry, index) => ({ id: String(index + 1), ...entry })))(
    'ATK-094 payload $id $payload: $expect',
    ({ payload, expect: verdict }) => {
      const allowed = verdict === 'policy' ? policy[payload] : verdict === 'allow'
      expect(safeRedirect(payload, origin, [])).toBe(allowed ? payload : null)
      expect(safeRedirect(payload, origin, [spa])).toBe(allowed ? payload : null)
    },
  )

  test.each([
    [spa],
    [`${spa}/`],
    [`${spa}/inbox?page=2#top`],
    [`${spa}?page=2`],
    [`${spa}#top`],
    [`${spa}:8443/inbox`],
  ])('%s leads to a trusted origin', (target) => {
    expect(safeRedirect(target, origin, [spa, `${spa}:8443`])).toBe(target)
  })

  test.each([
    [`${spa}.evil.test/`],
    [`${spa}:443@evil.test/`],
    [`${spa}@evil.test/`],
    [`${spa}:8444/`],
    [`${spa}\\@evil.test`],
    [`${spa}//evil.test`],
    [`${spa}/%2f/evil.test`],
    [`${spa}/.//evil.test`],
    [`${spa.toUpperCase()}/`],
    ['http://spa.example.test/'],
    ['spa.example.test/'],
    ['//spa.example.test/'],
  ])('ATK-094 %s does not count as the trusted origin', (target) => {
    expect(safeRedirect(target, origin, [spa])).toBeNull()
  })

  test.each([[null], [undefined], [1], [{}], [['/app']], [{ toString: () => '/app' }], [`/${'a'.repeat(2048)}`]])(
    'ATK-094 %j is no target',
    (input) => {
      expect(safeRedirect(input, origin, [spa])).toBeNull()
    },
  )

  test('whatever comes in, the browser stays on our origin or goes to a trusted one', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '//',
      '.',
      '..',
      '%2f',
      '%5C',
      '%09',
      '@',
      ':',
      '?',
      '#',
      'evil.test',
      spa,
      origin,
      'javascript:',
      '\t',
      ' ',
      'a',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
          fc.webUrl(),
          fc.anything(),
        ),
        (input) => {
          const target = safeRedirect(input, origin, [spa])
          if (target === null) return
          expect(target).toBe(input)
          const url = new URL(target, origin)
          expect([origin, spa]).toContain(url.origin)
          expect(url.pathname.startsWith('//')).toBe(false)
          expect(safeRedirect(target, origin, [spa])).toBe(target)
        },
      ),
      { numRuns: 800 },
    )
  })
})

describe('origins', () => {
  test.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['https://App.Example.com:443/', 'https://app.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:80', 'http://[::1]'],
  ])('%s is the origin %s', (input, expected) => {
    expect(parseOrigin(input)).toBe(expected)
  })

  test.each([
    ...[
      'null',
      '*',
      '',
      'https://*.example.com',
      'https://',
      'app.example.com',
      '//app.example.com',
      'capacitor://localhost',
    ],
    ...[
      'https://a.test/x',
      'https://a.test/?',
      'https://a.test/#',
      'https://a.test?x',
      'https://user@a.test',
      'https://a.test.',
    ],
    ...[
      ' https://a.test',
      'https://a.test\n',
      'https://a%2etest',
      'https:\\\\a.test',
      'https:a.test',
      'file:///x',
      'https://b\u00fccher.test',
    ],
  ])('%j is no origin', (input) => {
    expect(parseOrigin(input)).toBeNull()
  })

  test.each([[null], [1], [{}], [['https://a.test']], [new URL('https://a.test')]])('%o is no origin', (input) => {
    expect(parseOrigin(input)).toBeNull()
    expect(parseHttpUrl(input)).toBeNull()
  })

  test('on http loopback the three names of this machine are one origin, elsewhere an origin is itself', () => {
    expect(sameOrigins('http://localhost:3000')).toEqual([
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'http://[::1]:3000',
    ])
    expect(sameOrigins('http://[::1]')).toEqual(['http://[::1]', 'http://localhost', 'http://127.0.0.1'])
    expect(sameOrigins('https://localhost:3000')).toEqual(['https://localhost:3000'])
    expect(sameOrigins('https://app.example.com')).toEqual(['https://app.example.com'])
  })

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['[::1]', true],
    ['localhost.evil.test', false],
    ['127.0.0.1.evil.test', false],
    ['127.evil.test', false],
    ['notlocalhost', false],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
    ['[::]', false],
  ])('%s is loopback: %s', (hostname, expected) => {
    expect(isLoopbackHost(hostname)).toBe(expected)
    expect(isSecureUrl({ protocol: 'http:', hostname })).toBe(expected)
    expect(isSecureUrl({ protocol: 'https:', hostname })).toBe(true)
  })

  test('whatever comes in, an origin is its own origin and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          fc.webAuthority().map((host) => `https://${host}`),
          fc.anything(),
        ),
        (input) => {
          const result = parseOrigin(input)
          if (result === null) return
          expect(new URL(result).origin).toBe(result)
          expect(parseOrigin(result)).toBe(result)
        },
      ),
    )
  })
})
