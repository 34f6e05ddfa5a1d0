import { describe, expect, it } from 'vitest'
import { createRouteTable } from '../../src/http/route-table.js'
import { routes } from '../../src/routes/index.js'

const find = createRouteTable(routes)

describe('the route table', () => {
  it('finds exact paths, aliases and ids', () => {
    expect(find('/login')?.byMethod.get('POST')?.path).toBe('/login')
    expect(find('/refreshtoken')?.byMethod.get('POST')?.path).toBe('/refresh')
    expect(find('/sessions/abc_-123')?.params).toEqual({ id: 'abc_-123' })
    expect([...(find('/me')?.byMethod.keys() ?? [])].sort()).toEqual(['DELETE', 'GET', 'PATCH'])
  })

  it.each([
    '//login',
    '/LOGIN',
    '/login/',
    '/./login',
    '/%6cogin',
    '/login%2f',
    '/login?x',
    '/sessions/',
    '/sessions/a/b',
    '/sessions/a%2fb',
    `/sessions/${'a'.repeat(129)}`,
    '/assets/../login',
    '/constructor',
    '/__proto__',
    '',
  ])('ATK-015 takes %s for no route', (path) => {
    expect(find(path)).toBeNull()
  })

  it('names every path and method once', () => {
    const names = routes.flatMap((route) =>
      [route.path, ...(route.aliases ?? [])].map((path) => `${route.method} ${path}`),
    )
    expect(new Set(names).size).toBe(names.length)
  })
})
