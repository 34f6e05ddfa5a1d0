import fc from 'fast-check'
import { expect, test } from 'vitest'
import { targetOf } from '../../src/adapters/request-target.js'

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
