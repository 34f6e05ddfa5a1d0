import { describe, expect, test } from 'vitest'
import { corsHeaders, preflight } from '../../src/http/cors.js'
import type { RequestHeaders } from '../../src/http/message.js'

const trusted = 'https://spa.example.com'
const settings = { trustedOrigins: [trusted, 'http://localhost:5173'] }

const untrusted = [
  'https://evil.test',
  'null',
  '',
  'https://spa.example.com.evil.test',
  'http://spa.example.com',
  'https://spa.example.com:8443',
  'https://SPA.example.com',
  'https://spa.example.com/',
  `${trusted}, https://evil.test`,
]

function get(headers: RequestHeaders) {
  return { method: 'GET', headers, rawHeaders: null }
}

function options(origin: string | string[], more: RequestHeaders = {}) {
  const headers = { origin, 'access-control-request-method': 'PATCH', ...more }
  return { method: 'OPTIONS', headers, rawHeaders: null }
}

describe('ATK-079 answers', () => {
  test.each(settings.trustedOrigins)('ATK-079 %s is echoed exactly, with credentials', (origin) => {
    expect(corsHeaders(get({ origin }), settings)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'X-Request-Id, RateLimit, RateLimit-Policy, Retry-After',
      vary: 'Origin',
    })
  })

  test.each(untrusted)('ATK-079 %j gets nothing but Vary', (origin) => {
    expect(corsHeaders(get({ origin }), settings)).toEqual({ vary: 'Origin' })
  })

  test('ATK-079 two Origins get nothing but Vary', () => {
    expect(corsHeaders(get({ origin: [trusted, trusted] }), settings)).toEqual({ vary: 'Origin' })
    const twice = { ...get({ origin: trusted }), rawHeaders: ['Origin', trusted, 'Origin', 'https://evil.test'] }
    expect(corsHeaders(twice, settings)).toEqual({ vary: 'Origin' })
  })

  test('without Origin a cache still learns that the answer depends on it', () => {
    expect(corsHeaders(get({}), settings)).toEqual({ vary: 'Origin' })
  })

  test('where nobody is trusted nothing is added', () => {
    expect(corsHeaders(get({ origin: trusted }), { trustedOrigins: [] })).toBeNull()
  })
})

describe('ATK-079 preflights', () => {
  test('ATK-079 a trusted origin learns what it may send', () => {
    const response = preflight(
      options(trusted, { 'access-control-request-headers': 'content-type,x-auth-mode' }),
      settings,
    )
    expect(response).toMatchObject({ status: 204, body: null })
    expect(response?.headers).toMatchObject({
      'access-control-allow-origin': trusted,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'content-type, authorization, x-auth-mode',
      'access-control-max-age': '600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    })
  })

  test('a trusted page may send headers of its own', () => {
    const asked = { 'access-control-request-headers': 'Idempotency-Key, traceparent, Idempotency-Key' }
    expect(preflight(options(trusted, asked), settings)?.headers['access-control-allow-headers']).toBe(
      'content-type, authorization, x-auth-mode, idempotency-key, traceparent',
    )
  })

  test.each(['x-apikey', 'X-ApiKey', 'content-type, x-apikey', ' X-APIKEY ,x-api-key', '*', 'x\r\ny: z', 'é', 'a b'])(
    'ATK-079 no API token and nothing odd is let: %j',
    (asked) => {
      const response = preflight(options(trusted, { 'access-control-request-headers': asked }), settings)
      expect(response?.headers['access-control-allow-headers']).toBe('content-type, authorization, x-auth-mode')
    },
  )

  test('thousands of asked names are cut short', () => {
    const asked = Array.from({ length: 5_000 }, (_, index) => `x-${index}`).join(',')
    const response = preflight(options(trusted, { 'access-control-request-headers': asked }), settings)
    expect(String(response?.headers['access-control-allow-headers']).split(', ')).toHaveLength(3 + 32)
  })

  test.each(untrusted)('ATK-079 %j is answered without a single CORS header', (origin) => {
    for (const trust of [settings, { trustedOrigins: [] }]) {
      const response = preflight(options(origin), trust)
      expect(response).toMatchObject({ status: 204, body: null })
      expect(Object.keys(response?.headers ?? {}).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  test('what is no preflight is left to others', () => {
    expect(preflight(get({ origin: trusted, 'access-control-request-method': 'PATCH' }), settings)).toBeNull()
    expect(preflight({ method: 'OPTIONS', headers: { origin: trusted }, rawHeaders: null }, settings)).toBeNull()
    const noOrigin = { 'access-control-request-method': 'PATCH' }
    expect(preflight({ method: 'OPTIONS', headers: noOrigin, rawHeaders: null }, settings)).toBeNull()
  })
})
