import { expect, test } from 'vitest'
import { findUncovered } from '../../src/adapters/route-coverage.js'

test.each([
  ['the prefix that was probably meant', ['/apis/a', '/v1/b', '/v1/c'], ['/api'], '/apis'],
  ['the one that most routes share', ['/', '/v1/a', '/v2/b', '/v2/c'], ['/api'], '/v2'],
  ['one of the same depth', ['/api/v1/a', '/api/v1/b'], ['/api/v2'], '/api/v1'],
  ['a shorter one where there is none of that depth', ['/v1'], ['/api/v2'], '/v1'],
  ['in the spelling that the guard compares by', ['/V1/A', '/%76%31/b'], ['/api'], '/v1'],
])('suggests %s', (_, routes, guarded, suggestion) => {
  expect(findUncovered(routes, guarded)).toEqual({ prefixes: guarded, suggestion })
})

test('names each prefix that covers nothing', () => {
  expect(findUncovered(['/api/a', '/v1/b'], ['/api', '/v2', '/v3'])?.prefixes).toEqual(['/v2', '/v3'])
})

test.each([
  ['each prefix covers a route', ['/', '/api/a', '/v1'], ['/api', '/v1']],
  ['a route covers it in another case', ['/API/a'], ['/api']],
  ['a parameter could stand for the rest of it', ['/api/:version/a'], ['/api/v2']],
  ['everything is guarded', ['/v1/a'], ['/']],
  ['there are no routes', [], ['/api']],
  ['there is the root alone', ['/'], ['/api']],
  ['a route begins with a parameter', ['/:collection', '/v1/a'], ['/api']],
  ['a route begins with a wildcard', ['/*', '/v1/a'], ['/api']],
  ['a route is no path', ['{"$regex":"/x/"}', '/v1/a'], ['/api']],
])('has nothing to say where %s', (_, routes, guarded) => {
  expect(findUncovered(routes, guarded)).toBeNull()
})
