import { afterAll, describe, expect, test } from 'vitest'
import { ada, attackServer, expectRefusal } from '../support/attack-server.js'

const server = await attackServer()
const everywhere = await attackServer({ settings: { baseAPIRoutes: '/' } })
const elsewhere = await attackServer({ settings: { basePath: '/account/sign' } })
afterAll(() => Promise.all([server.close(), everywhere.close(), elsewhere.close()]))
for (const one of [server, everywhere]) await one.client().signUp(ada)
await elsewhere.client({ basePath: '/account/sign' }).signUp(ada)

const body = JSON.stringify(ada)

function login(of: typeof server, target: string, start = 'POST', version = '1.1') {
  const head = [
    'Host: 127.0.0.1',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return of.raw(`${start} ${target} HTTP/${version}\r\n${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Another spelling would have another bucket of the limiter, another entry in a proxy's rules, or both. */
const otherSpellings = [
  '//auth/login',
  '/auth//login',
  '/AUTH/login',
  '/auth/LOGIN',
  '/Auth/Login',
  '/auth/login/',
  '/auth/login//',
  '/auth/%6cogin',
  '/%61uth/login',
  '/auth/./login',
  '/./auth/login',
  '/x/../auth/login',
  '/auth/x/../login',
  '/auth/%2e/login',
  '/auth%2flogin',
  '/auth%2Flogin',
  '/auth/login%20',
  '/auth/login%00',
  '/auth/login%3f',
  '/auth/login.',
  '/auth/login;x=1',
  '/auth;x/login',
  '/auth\\login',
  '/auth/login/x',
  '/auth/login%2f',
  '/%2fauth/login',
  '/auth/ſogin',
  '/auth/login\u200b',
  'x/auth/login',
]

describe('ATK-015 the paths of the auth routes are exact', () => {
  test.each(otherSpellings)('ATK-015 %s is never answered as a sign-in', async (target) => {
    for (const of of [server, everywhere]) {
      const answer = await login(of, target)
      expect([400, 401, 404, 405], answer.text).toContain(answer.status)
      expect(answer.headers.getSetCookie()).toEqual([])
      expect(answer.text).not.toMatch(/"user"|invalid_credentials/)
      expect(of.calls).toEqual([])
    }
  })

  test.each(['/auth/login', '/auth/login?x=1', '/auth/login?', '/auth/login?/../x', 'http://any.test/auth/login'])(
    'ATK-015 %s is the sign-in itself',
    async (target) => {
      for (const of of [server, everywhere]) expect((await login(of, target)).status).toBe(200)
    },
  )

  test('ATK-015 HTTP/1.0 is served by the same route', async () => {
    expect((await login(server, '/auth/login', 'POST', '1.0')).status).toBe(200)
  })

  test('ATK-015 under another basePath the old one is nobody', async () => {
    expect((await login(elsewhere, '/account/sign/login')).status).toBe(200)
    for (const target of [
      '/auth/login',
      '/account/login',
      '/account/sign',
      '/account/sign//login',
      '/account/SIGN/login',
    ]) {
      expect((await login(elsewhere, target)).headers.getSetCookie()).toEqual([])
    }
  })

  test.each([
    '/auth/sessions/',
    '/auth/sessions/../me',
    '/auth/sessions/%2e%2e',
    '/auth/sessions/a%2fb',
    '/auth/sessions//x',
  ])('ATK-074 %s names no session', async (target) => {
    const answer = await login(server, target, 'DELETE')
    expectRefusal(answer, 400, 401, 404)
  })
})

describe('ATK-009 methods of the auth routes', () => {
  const posts = ['register', 'login', 'refresh', 'refreshtoken', 'logout', 'verify-email/resend']
  const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'OPTIONS']
  const cases = posts.flatMap((path) => methods.map((method) => ({ method, path })))

  test.each(cases)('ATK-009 $method /auth/$path does nothing and tells nothing', async ({ method, path }) => {
    const answer = await login(server, `/auth/${path}`, method)
    const head = method === 'HEAD' || method === 'OPTIONS'
    // A page stands under the same path: it shows a form, and what was sent along is nowhere in it.
    const page = ['GET', 'HEAD'].includes(method) && ['register', 'login'].includes(path)
    expect(page ? [200] : head ? [204, 404, 405] : [404, 405]).toContain(answer.status)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(answer.body ?? '').not.toContain(ada.email)
    if (answer.status === 405) expect(answer.headers.get('allow')).toContain('POST')
  })

  test.each(['GET', 'HEAD', 'OPTIONS'])(
    'ATK-009 %s on login is the same for an address with and without account',
    async (method) => {
      const answers = await Promise.all(
        [ada.email, 'nobody@example.test'].map((email) => server.ask(method, `/auth/login?email=${email}`)),
      )
      const [known, unknown] = answers.map(({ status, headers }) => [status, [...headers.keys()]])
      expect(known).toEqual(unknown)
    },
  )
})
