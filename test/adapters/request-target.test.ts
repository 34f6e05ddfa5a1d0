import fc from 'fast-check'
import { expect, test } from 'vitest'
import { targetAsRouted, targetOf } from '../../src/adapters/request-target.js'

/** The rule in one line: what stands behind an authority, up to `?` and `#`. */
function byRule(absolute: string): { path: string; query: string } {
  const [url = '', path = '', query = ''] = /^[^:]+:\/\/[^/\\?#]*([^?#]*)\??([^#]*)/.exec(absolute) ?? []
  return { path: url === '' ? '' : path || '/', query }
}

test('path and query of an absolute URL are what stands there, and none without an authority', () => {
  const part = fc.constantFrom('/', '\\', '?', '#', ':', '//', '://', '@', '.', '%2e', 'a', 'api', 'x.test', '\n', '')
  const parts = fc.array(part, { maxLength: 9 }).map((all) => all.join(''))
  const below = parts.map((text) => `http://api.test${text}`)
  fc.assert(
    fc.property(fc.oneof(parts, below), (text) => {
      expect(targetOf(text)).toEqual(byRule(text))
    }),
    { numRuns: 5_000 },
  )
})

test('it is the same with what a router took for the path, whatever part of the address that was', () => {
  const part = fc.constantFrom('/', '?', '#', ':', '//', '%2e', 'a', 'api', '@', '')
  const below = fc.array(part, { maxLength: 9 }).map((all) => all.join(''))
  const origin = fc.constantFrom(
    'http://a',
    'https://a',
    'http://api.test:3000',
    'https://[::1]',
    'http://u:p@api.test',
  )
  fc.assert(
    fc.property(origin, below, fc.nat({ max: 40 }), fc.nat({ max: 20 }), (base, text, from, length) => {
      const { href, pathname, search, host } = new URL(`${base}/${text}`)
      const [routed = ''] = href.slice(from, from + length).split('#')
      const sent = { url: pathname + search, headers: { host } }
      for (const one of [null, sent]) {
        for (const taken of [routed, byRule(href).path, sent.url]) {
          expect(targetAsRouted(href, taken, one)).toEqual(byRule(href))
        }
      }
    }),
    { numRuns: 5_000 },
  )
})

test('a query that somebody else put into the URL is seen', () => {
  const sent = { url: '/api/x', headers: { host: 'api.test' } }
  const target = { path: '/api/x', query: 'apikey=k' }
  expect(targetAsRouted('http://api.test/api/x?apikey=k', '/api/x', sent)).toEqual(target)
  expect(targetAsRouted('http://api.test/api/x?apikey=k', '/api/x', { ...sent, headers: {} })).toEqual(target)
})

test.each([
  ['http://api.test', '/', ''],
  ['http://api.test?a=1', '/', 'a=1'],
  ['http://api.test/api/x?a=/b?c#d', '/api/x', 'a=/b?c'],
  ['http://api.test/api#/x?a', '/api', ''],
  ['http://api.test\\api', '\\api', ''],
  ['http:/api', '', ''],
  ['//api.test/api', '', ''],
  ['/api', '', ''],
])('%s', (url, path, query) => {
  expect(targetOf(url)).toEqual({ path, query })
})
