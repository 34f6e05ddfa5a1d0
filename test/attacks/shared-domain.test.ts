import { afterAll, expect, test } from 'vitest'
import { attackServer } from '../support/attack-server.js'

/** The application at app.example.test shares its session cookies with its sibling hosts. */
const origin = 'https://app.example.test'
const server = await attackServer({ settings: { baseUrl: origin, cookies: { domain: 'example.test' } } })
afterAll(() => server.close())

const victim = { email: 'victim@example.test', password: 'known to the attacker' }

/** The value that a response sets under the name without its prefix. */
function cookieValue(lines: readonly string[], name: string): string {
  const found = lines
    .map((line) => /^(?:__Host-|__Secure-)?([\w-]+)=([^;]*)/.exec(line))
    .find((pair) => pair?.[1] === name)
  return found?.[2] ?? ''
}

test('ATK-214 a registration cookie that a sibling host planted confirms no account', async () => {
  const attacker = server.clientAt(origin)
  const registered = await attacker.post('/auth/register', victim)
  const lines = registered.headers.getSetCookie()
  const handle = cookieValue(lines, 'registration')
  expect(handle).not.toBe('')
  // A host below example.test can set any cookie with Domain, but none with the prefix __Host- (RFC 6265bis section 4.1.3.2).
  expect(lines.find((line) => line.includes('registration'))).toMatch(/^__Host-registration=(?!.*domain)/i)

  const token = server.mailbox.token(await server.mailbox.waitFor(victim.email))
  for (const planted of ['__Secure-registration', 'registration']) {
    const headers = { cookie: `${planted}=${handle}`, origin }
    const clicked = await server.ask('POST', '/auth/verify-email', { body: { token }, headers })
    expect(clicked.body).toMatchObject({ code: 'invalid_request', errors: [{ path: 'password' }] })
  }
  const login = await server.clientAt(origin).post<{ code: string }>('/auth/login', victim)
  expect(login.body.code).toBe('email_not_verified')
  // The sign-in mailed a new link. The browser that registered has the cookie under its own name and needs no password.
  const renewed = server.mailbox.token(await server.mailbox.waitFor(victim.email))
  expect((await attacker.post('/auth/verify-email', { token: renewed })).status).toBe(200)
})
