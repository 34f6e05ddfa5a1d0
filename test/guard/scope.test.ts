import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createScope } from '../../src/guard/scope.js'

const scopeOf = createScope({ baseAPIRoutes: ['/api', '/v2/data'], publicRoutes: ['/api/health', '/api/open/*'] })

describe('what the guard stands before', () => {
  it.each([
    ['/api', 'guarded'],
    ['/api/', 'guarded'],
    ['/api/secret', 'guarded'],
    ['/API/Secret', 'guarded'],
    ['/v2/data/1', 'guarded'],
    ['/apiary', 'outside'],
    ['/api.json', 'outside'],
    ['/v2', 'outside'],
    ['/', 'outside'],
    ['/api/health', 'public'],
    ['/api/open/a/b', 'public'],
    ['/api/open/', 'public'],
    ['/api/open', 'guarded'],
    ['/api/health/', 'guarded'],
    ['/API/health', 'guarded'],
    ['/api/Health', 'guarded'],
    ['/api/healthy', 'guarded'],
    ['//', 'outside'],
    ['//@scope/package', 'outside'],
    ['//open/x', 'outside'],
  ])('ATK-098 %s is %s', (path, scope) => {
    expect(scopeOf(path)).toBe(scope)
  })

  it.each([
    ['/x', '/..'],
    ['/x', '/%2e%2e'],
    ['/x', '//'],
    ['/x', ';a'],
    ['/x', '%5C'],
    ['/x', '%CC%81%CC%A7'],
    ['/x', '%20'],
    ['/x', '%E2%80%A5'],
    ['/x', '%00'],
  ])('ATK-216 a long odd path is guarded without a closer look: %s and many %s', (start, piece) => {
    expect(scopeOf(`${start}${piece.repeat(5_000)}`)).toBe('guarded')
  })

  it('ATK-216 a long path of encoded letters is read as any other', () => {
    const title = '/%E4%BD%A0'.repeat(1_600)
    expect(scopeOf(title)).toBe('outside')
    expect(scopeOf(`/api${title}`)).toBe('guarded')
    expect(scopeOf(`/%EF%BD%81pi${title}`)).toBe('guarded')
    expect(scopeOf(`/v2/d%61ta${title}`)).toBe('guarded')
  })

  it.each([
    '//api/secret',
    '/./api/secret',
    '/x/../api/secret',
    '/open/..;/api/secret',
    '/%61pi/secret',
    '/api%2fsecret',
    '/api%5csecret',
    '/api\\secret',
    '/api;x=1/secret',
    '/api#',
    '/API#x',
    '/api?x=1',
    '/api/open/?x=1',
    '/%61pi?x=1',
    '/;/api/secret',
    '/api%0a/secret',
    '/ａｐｉ/secret',
    '/%EF%BC%8Fapi/secret',
    '/api/%E0%A4%A',
    '/%',
    '*',
    'http://other.test/api',
    '/api/open/../secret',
    '/api/open/%2e%2e/secret',
    '/api/open//x',
    '/api/health%00',
    '',
    '/open#x',
    '//api#',
    '//a@b:99999/api/secret',
    '//a@999.999.999.999/api/secret',
    '//a@b/api.x',
    '//x@api/v2',
    '/\\a@b/api/secret',
    '//b:99999/open',
  ])('ATK-097 guards %s, which somebody could read as a guarded path', (path) => {
    expect(scopeOf(path)).toBe('guarded')
  })

  it('guards everything under /, but for what is public', () => {
    const all = createScope({ baseAPIRoutes: ['/'], publicRoutes: ['/about'] })
    expect([all('/'), all('/x'), all('/about'), all('/about/')]).toEqual(['guarded', 'guarded', 'public', 'guarded'])
  })

  it('ATK-097 is never talked out of guarding by dressing a guarded path up', () => {
    const dress = fc.constantFrom('', '/', '/.', '/x/..', '/%2e', '/;a=b', '//', '/./', '/x/../')
    const spell = fc.constantFrom('api', 'API', 'Api', '%61pi', 'a%70i', 'ap%69')
    fc.assert(
      fc.property(fc.array(dress, { maxLength: 4 }), spell, fc.array(dress, { maxLength: 3 }), (before, api, after) => {
        const path = `${before.join('')}/${api}${after.join('')}`.replace(/\/+$/, '')
        const resolved = new URL(path.replaceAll(/;[^/]*/g, '').replaceAll(/\/+/g, '/'), 'http://x').pathname
        fc.pre(decodeURIComponent(resolved).replaceAll(/\/+/g, '/').toLowerCase().startsWith('/api'))
        expect(scopeOf(path)).toBe('guarded')
      }),
    )
  })
})
