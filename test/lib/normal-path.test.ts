import { expect, test } from 'vitest'
import { normalPath } from '../../src/lib/normal-path.js'

test.each([
  ['/', '/'],
  ['/api/notes', '/api/notes'],
  ['/api/%61dmin', '/api/admin'],
  ['/api/%41dmin/', '/api/Admin/'],
  ['/api/a%20b', '/api/a%20b'],
  ['/api/%c3%a4', '/api/%C3%A4'],
  ['/api/a.b..c', '/api/a.b..c'],
  ['/api/%2e%2e%2e', '/api/...'],
  ["/api/a+b:c@d=e,f!g'(h)*", "/api/a+b:c@d=e,f!g'(h)*"],
])('%s reads %s', (path, normal) => expect(normalPath(path)).toBe(normal))

test.each([
  ...['', 'api', '*', '//', '/api//x', '/api/./x', '/api/../x', '/api/..', '/api/.', '/api/%2e%2E/x', '/api/.%2e'],
  ...['/api/a%2fb', '/api/a%5Cb', '/api/a\\b', '/api/a;b', '/api/a%3bb', '/api/%00', '/api/%0a', '/api/%7f'],
  ...['/api/%2561', '/api/%', '/api/%zz', '/api/%ff', '/api/%c3'],
])('%s has several readings', (path) => expect(normalPath(path)).toBeNull())
