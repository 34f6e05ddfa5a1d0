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
      const { href } = new URL(`${base}/${text}`)
      const [routed = ''] = href.slice(from, from + length).split('#')
      expect(targetAsRouted(href, routed)).toEqual(byRule(href))
      expect(targetAsRouted(href, byRule(href).path)).toEqual(byRule(href))
    }),
    { numRuns: 5_000 },
  )
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
