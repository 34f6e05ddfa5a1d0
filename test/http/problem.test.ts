import { describe, expect, test } from 'vitest'
import { AuthError, type ErrorCode, errorTable } from '../../src/errors.js'
import { asset, empty, html, json, problem, redirect, transportHeaders, withHeaders } from '../../src/http/problem.js'

const codes = Object.keys(errorTable) as ErrorCode[]

function bodyOf(error: AuthError): Record<string, unknown> {
  return JSON.parse(String(problem(error, 'request-1').body))
}

describe('problems', () => {
  test('say everything that RFC 9457 asks for, and the code', () => {
    expect(bodyOf(new AuthError('invalid_credentials'))).toEqual({
      type: 'urn:latchkey:error:invalid_credentials',
      title: 'Invalid credentials',
      status: 401,
      code: 'invalid_credentials',
      detail: 'The email or the password is wrong.',
      requestId: 'request-1',
    })
  })

  test('add which fields are wrong and why a password is weak', () => {
    const errors = [{ path: 'email', message: 'must be an address' }]
    expect(bodyOf(new AuthError('invalid_request', { errors }))).toMatchObject({ errors })
    const reasons = ['too_short', 'common']
    expect(bodyOf(new AuthError('weak_password', { reasons }))).toMatchObject({ status: 422, reasons })
  })

  test('show the sentence of the owner’s hook', () => {
    const error = new AuthError('forbidden', { detail: 'Invitation only.' })
    expect(bodyOf(error)).toMatchObject({ title: 'Forbidden', detail: 'Invitation only.' })
  })

  test('ATK-112 never show the cause', () => {
    const secret = new Error('SELECT secret FROM users')
    const response = problem(new AuthError('internal_error', { cause: secret }), 'request-1')
    expect(JSON.stringify(response)).not.toContain('SELECT')
    expect(JSON.stringify(response)).not.toContain('problem.test')
  })

  test.each(codes)('%s is a problem that nobody stores, with its own status and type', (code) => {
    const response = problem(new AuthError(code), 'request-1')
    expect(response.status).toBe(errorTable[code][0])
    expect(response.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'request-1',
    })
    expect(bodyOf(new AuthError(code))).toMatchObject({ code, type: `urn:latchkey:error:${code}` })
  })

  test.each(codes)('%s carries the challenge and the wait that its status calls for', (code) => {
    const { status, headers } = problem(new AuthError(code), 'request-1')
    const challenged = status === 401 || code === 'insufficient_access'
    expect(headers['www-authenticate'] !== undefined).toBe(challenged)
    expect(headers['retry-after'] !== undefined).toBe(status === 429 || status === 503)
  })

  test.each([
    ['unauthenticated', 'Bearer realm="latchkey"'],
    ['invalid_credentials', 'Bearer realm="latchkey"'],
    ['token_expired', 'Bearer realm="latchkey", error="invalid_token"'],
    ['token_revoked', 'Bearer realm="latchkey", error="invalid_token"'],
    ['insufficient_access', 'Bearer realm="latchkey", error="insufficient_scope"'],
  ] as const)('%s challenges with %s', (code, challenge) => {
    expect(problem(new AuthError(code), 'request-1').headers['www-authenticate']).toBe(challenge)
  })

  test.each([
    [90, '90'],
    [1.5, '2'],
    [0.2, '1'],
    [0, '1'],
    [undefined, '60'],
  ])('a wait of %s seconds is said as %s', (retryAfterSeconds, said) => {
    const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
    expect(problem(new AuthError('rate_limited', details), 'request-1').headers['retry-after']).toBe(said)
  })

  test('carry what only the caller knows', () => {
    const { headers } = problem(new AuthError('method_not_allowed'), 'request-1', { allow: 'GET, HEAD' })
    expect(headers.allow).toBe('GET, HEAD')
  })
})

describe('answers', () => {
  test.each([
    ['json', json(200, { a: 1 })],
    ['empty', empty(204)],
    ['redirect', redirect(303, '/')],
    ['html', html(200, '<p>')],
  ])('ATK-080 %s is stored by nobody and taken for nothing else', (_, response) => {
    expect(response.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })

  test('json and empty say what they are', () => {
    expect(json(201, { a: 1 }, { 'set-cookie': ['x'] })).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json', 'set-cookie': ['x'] },
      body: '{"a":1}',
    })
    expect(empty(204)).toMatchObject({ status: 204, body: null })
  })

  test('a redirect goes where it is told', () => {
    expect(redirect(302, 'https://idp.test/a?b=c')).toMatchObject({
      status: 302,
      headers: { location: 'https://idp.test/a?b=c' },
      body: null,
    })
  })

  test.each(['/a\r\nSet-Cookie: x=y', '/a b', '/é', '/\u0000', ''])('ATK-111 a redirect to %j is refused', (target) => {
    expect(() => redirect(303, target)).toThrow('printable ASCII')
  })

  test('ATK-083 a page runs our script only, is in no frame and tells no other site its address', () => {
    expect(html(200, '<p>').headers).toEqual({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'referrer-policy': 'strict-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
      'x-frame-options': 'DENY',
    })
  })

  test('ATK-083 a form may end at another origin only if it is named', () => {
    const { headers } = html(200, '<p>', { formOrigins: ['https://spa.example.com'], headers: { 'x-one': '1' } })
    expect(headers['content-security-policy']).toContain("form-action 'self' https://spa.example.com;")
    expect(headers['x-one']).toBe('1')
  })

  test('an asset may be kept for ever', () => {
    expect(asset('text/css', 'p{}')).toEqual({
      status: 200,
      headers: {
        'content-type': 'text/css',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      },
      body: 'p{}',
    })
  })

  test('added cookies and Vary join what is there, other headers replace it', () => {
    const first = json(200, {}, { 'set-cookie': ['a=1'], vary: 'Origin', 'x-one': '1' })
    const { headers } = withHeaders(first, { 'set-cookie': ['b=2'], vary: 'Cookie', 'x-one': '2' })
    expect(headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], vary: 'Origin, Cookie', 'x-one': '2' })
    expect(withHeaders(first, { vary: 'Origin' }).headers).toMatchObject({ 'set-cookie': ['a=1'], vary: 'Origin' })
    expect(withHeaders(empty(204), {}).headers).toEqual(empty(204).headers)
    expect(first.headers['set-cookie']).toEqual(['a=1'])
  })

  test('with https browsers are told to stay with it, for this host alone', () => {
    expect(transportHeaders({ origin: 'https://app.example.com' })).toEqual({
      'strict-transport-security': 'max-age=31536000',
    })
    expect(transportHeaders({ origin: 'http://localhost:3000' })).toEqual({})
  })
})
