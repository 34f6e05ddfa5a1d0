import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, ada, attackServer, expectRefusal, heldTokens } from '../support/attack-server.js'

const trusted = 'https://app.example.test'
// The weakest cookies there are: SameSite does not help, so the origin rule stands alone.
const server = await attackServer({
  file: true,
  settings: { cookies: { sameSite: 'none' }, trustedOrigins: [trusted] },
})
afterAll(() => server.close())

const app = server.client({ as: 'token' })
await app.signUp({ ...ada, email: 'mallory@example.test' })
const victim = server.clientAt(server.url.replace('http:', 'https:'), { headers: { origin: server.url } })
await victim.signUp(ada)
const other = server.clientAt(server.url.replace('http:', 'https:'), { headers: { origin: server.url } })
await other.signIn(ada)
await victim.post('/auth/otp', { email: ada.email })
const otpToken = server.mailbox.token(await server.mailbox.waitFor(ada.email, 'code'))
const cookies = victim.cookies
  .all()
  .map(({ name, value }) => `${name}=${value}`)
  .join('; ')
const sessionId = (await victim.get<{ session: { id: string } }>('/auth/me')).body.session.id
await server.ask('POST', '/auth/register', { body: { ...ada, email: 'pending@example.test' } })
const pendingToken = server.mailbox.token(await server.mailbox.waitFor('pending@example.test'))
const mover = server.client({ as: 'token' })
await mover.signUp({ ...ada, email: 'moving@example.test' })
const undoToken = await mailedTo('moved@example.test').then(async (token) => {
  await mover.post('/auth/email/confirm', { token })
  return server.mailbox.token(await server.mailbox.waitFor('moving@example.test', 'was changed'))
})
const changeToken = await mailedTo('moving-on@example.test')

/** The link to a new address of the account that moves. */
async function mailedTo(newEmail: string): Promise<string> {
  await mover.post('/auth/email/change', { newEmail, password: ada.password })
  return server.mailbox.token(await server.mailbox.waitFor(newEmail))
}

beforeEach(() => {
  server.calls.length = 0
})

/** What a page of somebody else can make a browser send, as headers. */
const foreign: Readonly<Record<string, Record<string, string>>> = {
  'another origin': { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' },
  'another origin that claims to be near': { origin: 'https://evil.test', 'sec-fetch-site': 'same-origin' },
  'the origin null of a sandboxed frame': { origin: 'null' },
  'no origin, Sec-Fetch-Site: cross-site': { 'sec-fetch-site': 'cross-site' },
  'no origin, Sec-Fetch-Site: same-site': { 'sec-fetch-site': 'same-site' },
  'no origin, an unknown Sec-Fetch-Site': { 'sec-fetch-site': 'x' },
  'no origin and no Sec-Fetch-Site, but our cookies': {},
  'a host that begins like a trusted one': { origin: `${trusted}.evil.test` },
  'a host that ends like a trusted one': { origin: trusted.replace('//', '//evil') },
  'the trusted host over http': { origin: trusted.replace('https', 'http') },
  'the trusted host on another port': { origin: `${trusted}:8443` },
  'the trusted host in capitals': { origin: trusted.toUpperCase() },
  'the trusted host with a path': { origin: `${trusted}/` },
  'our host on another port': { origin: server.url.replace(/\d+$/, '9') },
  'our host over https': { origin: server.url.replace('http', 'https') },
  'two origins in one': { origin: `${server.url}, https://evil.test` },
  'an empty origin': { origin: '' },
}

const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

/** Every route that changes something, with a request that would succeed from our own pages. */
const writes: readonly { method: string; path: string; body?: Record<string, string> }[] = [
  { method: 'POST', path: '/auth/login', body: { email: 'mallory@example.test', password: ada.password } },
  { method: 'POST', path: '/auth/register', body: { email: 'csrf@example.test', password: ada.password } },
  { method: 'POST', path: '/auth/verify-email', body: { token: pendingToken, password: ada.password } },
  { method: 'POST', path: '/auth/verify-email/resend', body: { email: 'pending@example.test' } },
  { method: 'POST', path: '/auth/otp', body: { email: ada.email } },
  { method: 'POST', path: '/auth/otp/verify', body: { token: otpToken } },
  { method: 'POST', path: '/auth/refresh' },
  { method: 'POST', path: '/auth/refreshtoken' },
  { method: 'POST', path: '/auth/logout' },
  { method: 'POST', path: '/auth/email/change', body: { newEmail: 'evil@example.test', password: ada.password } },
  { method: 'POST', path: '/auth/email/confirm', body: { token: changeToken } },
  { method: 'POST', path: '/auth/email/undo', body: { token: undoToken } },
  { method: 'PATCH', path: '/auth/me', body: { name: 'Mallory' } },
  { method: 'DELETE', path: '/auth/me', body: { password: ada.password } },
  { method: 'DELETE', path: '/auth/sessions' },
  { method: 'DELETE', path: `/auth/sessions/${sessionId}` },
  { method: 'POST', path: '/api/secret', body: { a: 'b' } },
  { method: 'PUT', path: '/api/secret', body: { a: 'b' } },
  { method: 'PATCH', path: '/api/secret' },
  { method: 'DELETE', path: '/api/secret' },
]

/** All that any of these could change. */
function state(): string {
  const tables = ['users', 'sessions', 'one_time_tokens', 'outbox', 'audit']
  // When a token was last seen is written in batches, whenever.
  const rows = tables.map((table) => server.sql<object>(`select * from latchkey_${table} order by id`))
  return JSON.stringify(rows, (name, value) => (/^(proven_at_ms|last_seen_at)$/.test(name) ? null : value))
}

const multipart = (body: Record<string, string>) =>
  `${Object.entries(body)
    .map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}--b--\r\n`

/** One write as fetch, as forms of every kind, and as a form that overrides its method. */
function shapesOf({ method, path, body }: (typeof writes)[number]) {
  const fields = body ?? {}
  const own = { method, path }
  const shapes = [
    { ...own, type: json, body: JSON.stringify(fields) },
    { ...own, type: 'text/plain', body: JSON.stringify(fields) },
    { ...own, type: `text/plain; charset=${json}`, body: JSON.stringify(fields) },
    { ...own, type: form, body: String(new URLSearchParams(fields)) },
    { ...own, type: 'multipart/form-data; boundary=b', body: multipart(fields) },
    { ...own, type: null, body: '' },
  ]
  const override = {
    method: 'POST',
    path,
    type: form,
    body: String(new URLSearchParams({ ...fields, _method: method })),
  }
  return method === 'POST' ? shapes : [...shapes, override]
}

function send({ method, path, type, body }: ReturnType<typeof shapesOf>[number], headers: Record<string, string>) {
  const head = type === null ? {} : { 'content-type': type }
  return server.ask(method, path, {
    headers: { ...head, 'content-length': String(Buffer.byteLength(body)), ...headers },
    body,
  })
}

function expectRejected(answer: Answer, type: string | null, path: string): void {
  expect(answer.headers.getSetCookie()).toEqual([])
  // What is no body for us at all may be refused for that, before anybody asks where it came from.
  const alsoUnread = path.startsWith('/auth/') && type !== json && type !== form
  expectRefusal(answer, 403, ...(alsoUnread ? [400, 415] : []))
  if (answer.status === 403) expect(answer.body).toMatchObject({ code: 'csrf_rejected' })
}

describe('ATK-078 writes that another site makes a browser send', () => {
  describe.each(Object.entries(foreign))('from %s', (_from, headers) => {
    test.each(writes)(
      'ATK-078 $method $path is rejected with our cookies, in every shape, and does nothing',
      async (write) => {
        const before = state()
        for (const shape of shapesOf(write)) {
          expectRejected(await send(shape, { ...headers, cookie: cookies }), shape.type, shape.path)
        }
        expect(server.calls).toEqual([])
        expect(state()).toBe(before)
      },
    )
  })

  // Without a cookie and without any word about the site it is a program, not a browser: that passes below.
  const telling = Object.entries(foreign).filter(([, headers]) => Object.keys(headers).length > 0)
  test.each(telling)('ATK-078 from %s all of them are rejected without a cookie as well', async (_from, headers) => {
    const before = state()
    for (const shape of writes.flatMap(shapesOf)) expectRejected(await send(shape, headers), shape.type, shape.path)
    expect([server.calls, state()]).toEqual([[], before])
  })

  test('ATK-078 two Origin headers are no origin, even if both are ours', async () => {
    const head = `Host: x\r\nCookie: ${cookies}\r\nContent-Length: 0\r\nOrigin: ${server.url}\r\nOrigin: ${server.url}\r\n\r\n`
    expectRefusal(await server.raw(`POST /auth/logout HTTP/1.1\r\n${head}`), 403)
    expectRefusal(await server.raw(`POST /api/secret HTTP/1.1\r\n${head}`), 403)
  })

  test('ATK-078 a form needs evidence that it is from our pages, with and without a cookie', async () => {
    const login = { method: 'POST', path: '/auth/login', body: { email: ada.email, password: 'wrong wrong' } }
    const shape = shapesOf(login).filter(({ type }) => type === form)[0]
    if (!shape) throw new Error('no form')
    for (const headers of [{}, { origin: trusted }, { 'sec-fetch-site': 'none' }]) {
      expectRefusal(await send(shape, headers), 403)
    }
    for (const headers of [{ origin: server.url }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await send(shape, headers)).headers.get('location')).toMatch(/error=invalid_credentials$/)
    }
  })
})

describe('ATK-078 reads', () => {
  test.each(['GET', 'HEAD'])(
    'ATK-078 %s of another origin with our cookie is refused, where the cookie decides',
    async (method) => {
      for (const path of ['/api/secret', '/auth/me', '/auth/sessions']) {
        for (const origin of ['https://evil.test', 'null']) {
          expect((await server.ask(method, path, { headers: { cookie: cookies, origin } })).status).toBe(403)
        }
      }
      expect(server.calls).toEqual([])
    },
  )

  test('ATK-078 a link from elsewhere is a read like any other', async () => {
    const headers = { cookie: cookies, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await server.ask('GET', '/api/secret', { headers })).status).toBe(200)
  })

  test.each(['login', 'logout', 'refresh', 'register', 'verify-email/resend'])(
    'ATK-078 no GET of /auth/%s does anything',
    async (path) => {
      const before = state()
      const answer = await server.ask('GET', `/auth/${path}?${new URLSearchParams(ada)}`, {
        headers: { cookie: cookies },
      })
      expect(answer.headers.has('set-cookie')).toBe(false)
      const hasPage = path === 'login' || path === 'register'
      expect([200, 303].includes(answer.status)).toBe(hasPage)
      expect(state()).toBe(before)
    },
  )
})

describe('ATK-078 what has to work', () => {
  const { access } = heldTokens(app)
  const fine: [string, Record<string, string>][] = [
    ['our own origin', { origin: server.url, cookie: cookies }],
    [
      'our origin by its other loopback name',
      { origin: server.url.replace('127.0.0.1', 'localhost'), cookie: cookies },
    ],
    ['a trusted origin', { origin: trusted, 'sec-fetch-site': 'cross-site', cookie: cookies }],
    ['no origin, Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin', cookie: cookies }],
    ['no origin, Sec-Fetch-Site: none', { 'sec-fetch-site': 'none', cookie: cookies }],
    ['a program with a bearer token', { authorization: `Bearer ${access}` }],
    ['a page of a trusted origin with a bearer token', { origin: trusted, authorization: `Bearer ${access}` }],
  ]

  test.each(fine)('ATK-078 a write with %s passes', async (_from, headers) => {
    expect((await server.ask('POST', '/api/secret', { headers, body: { a: 1 } })).status).toBe(200)
    expect((await server.ask('PATCH', '/auth/me', { headers, body: { name: 'Ada' } })).status).toBe(200)
    expect(server.calls).toHaveLength(1)
  })

  test('ATK-078 a program without cookies signs in', async () => {
    expect((await server.ask('POST', '/auth/login', { body: ada })).status).toBe(200)
  })

  test('ATK-078 a bearer token does not excuse a foreign origin on a write', async () => {
    const headers = { origin: 'https://evil.test', authorization: `Bearer ${access}` }
    expectRefusal(await server.ask('POST', '/api/secret', { headers }), 403)
    expectRefusal(await server.ask('PATCH', '/auth/me', { headers, body: { name: 'x' } }), 403)
    expect((await server.ask('GET', '/api/secret', { headers })).status).toBe(200)
  })

  test.each([{ origin: server.url }, { 'sec-fetch-site': 'same-origin' }, { cookie: cookies }])(
    'ATK-082 token mode is refused to a browser, known by %j',
    async (headers) => {
      for (const path of ['/auth/login', '/auth/refresh', '/auth/register']) {
        const answer = await server.ask('POST', path, { headers: { ...headers, 'x-auth-mode': 'token' }, body: ada })
        expectRefusal(answer, 403)
        expect(answer.text).not.toContain('eyJ')
      }
    },
  )

  test('ATK-078 after all that the victim is still signed in', async () => {
    expect((await server.ask('GET', '/auth/me', { headers: { cookie: cookies } })).body).toMatchObject({
      user: { email: ada.email },
      session: { id: sessionId },
    })
  })
})
