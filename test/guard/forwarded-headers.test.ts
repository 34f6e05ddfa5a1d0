import { describe, expect, test } from 'vitest'
import { claimingHeaders, findSpoofedHeaders } from '../../src/guard/forwarded-headers.js'

describe('ATK-219 headers that claim an identity or an address', () => {
  test.each(claimingHeaders)('ATK-219 %s is found', (pattern) => {
    const name = pattern.replace('*', pattern.endsWith('-*') ? 'anything' : '-name')
    expect(findSpoofedHeaders({ accept: '*/*', [name]: 'admin', cookie: 'a=1' })).toEqual([name])
    if (pattern.endsWith('*') && !pattern.endsWith('-*')) {
      expect(findSpoofedHeaders({ [pattern.slice(0, -1)]: 'admin' })).toHaveLength(1)
    }
  })

  test("an application's own headers, and those of every request, stay", () => {
    const own = [
      'x-auth-token',
      'x-user-agent',
      'x-usernames',
      'x-requested-with',
      'x-apikey',
      'x-csrf-token',
      'remote',
    ]
    const usual = [
      'accept',
      'authorization',
      'cf-ray',
      'connection',
      'content-type',
      'cookie',
      'host',
      'te',
      'traceparent',
    ]
    expect(findSpoofedHeaders(Object.fromEntries([...own, ...usual].map((name) => [name, '1'])))).toEqual([])
  })
})
