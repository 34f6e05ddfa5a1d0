import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { AuthClientError } from '../../src/client.js'
import { attackServer } from '../support/attack-server.js'
import { type TestBrowser, type TestTab, testBrowser } from '../support/tabs.js'
import { totpCode } from '../support/totp.js'

const server = await attackServer({
  settings: { registration: { emailVerification: 'optional' } },
  before(app, handler) {
    app.all('/api/broken', (_req, res) => void res.status(401).json({ code: 'token_expired' }))
    app.all('/api/secret', handler)
  },
})
afterAll(() => server.close())

const password = 'a difference engine of brass'
let visitors = 0
let browser: TestBrowser

beforeEach(() => {
  browser = testBrowser(server)
  server.calls.length = 0
})

const refreshes = () => browser.sent.filter((line) => line === 'POST /auth/refresh').length
const expire = () => server.runtime.clock.advance('16m')

/** An account, and a tab that is signed in to it. */
async function signedUp(options = {}): Promise<TestTab & { email: string }> {
  visitors += 1
  const email = `visitor-${visitors}@example.test`
  const tab = browser.open(options)
  await tab.auth.signUp({ email, password })
  browser.sent.length = 0
  return { ...tab, email }
}

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ code, status }), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
}

function failing(path: string, answer: () => Response | Error): TestBrowser['instead'] {
  return (_method, asked) => (asked === path ? answer() : null)
}

test('the client is smaller than 3 kB, minified and gzipped, and takes nothing of the server along', async () => {
  const entry = fileURLToPath(new URL('../../src/client.ts', import.meta.url))
  const bundle = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    minify: true,
    write: false,
    metafile: true,
  })
  expect(gzipSync(bundle.outputFiles[0]?.contents ?? '', { level: 9 }).byteLength).toBeLessThan(3000)
  const inputs = Object.keys(bundle.metafile.inputs)
  expect(inputs.filter((path) => !/^src\/client(\/|\.ts)/.test(path))).toEqual([])
})

describe('who is signed in', () => {
  test('is not known at first, then nobody, then whoever signs in', async () => {
    const { email } = await signedUp()
    browser = testBrowser(server)
    const { auth } = browser.open()
    expect(auth.session.get()).toBeUndefined()
    expect(await auth.session.load()).toBeNull()
    expect(auth.session.get()).toBeNull()

    const answer = await auth.signIn({ email, password })
    expect(answer).toMatchObject({ user: { email }, session: { id: expect.any(String) } })
    expect(auth.session.get()).toMatchObject({ user: { email } })
    await auth.signOut()
    expect(auth.session.get()).toBeNull()
    expect((await auth.fetch('/api/secret')).status).toBe(401)
  })

  test('is loaded for the first who asks to be told, and the same object until something changes', async () => {
    const { email } = await signedUp()
    const { auth } = browser.open()
    const told = vi.fn()
    const leave = auth.session.subscribe(told)
    await expect.poll(() => auth.session.get()?.user.email).toBe(email)
    const first = auth.session.get()
    await auth.session.load()
    expect(auth.session.get()).toBe(first)
    expect(told).toHaveBeenCalledTimes(1)

    await auth.patch('/me', { name: 'Ada' })
    expect(auth.session.get()).toMatchObject({ user: { name: 'Ada' } })
    leave()
    await auth.signOut()
    expect(told).toHaveBeenCalledTimes(2)
  })

  test('shows in every tab: sign-in, change and sign-out', async () => {
    const { auth, email } = await signedUp()
    const ended = vi.fn()
    const other = browser.open({ onSignedOut: ended })
    await other.auth.session.load()
    await auth.patch('/me', { name: 'Ada' })
    await expect.poll(() => other.auth.session.get()?.user.name).toBe('Ada')

    await auth.signOut()
    await expect.poll(() => other.auth.session.get()).toBeNull()
    expect(ended).toHaveBeenCalledTimes(1)

    await auth.signIn({ email, password })
    await expect.poll(() => other.auth.session.get()?.user.email).toBe(email)
  })

  test('is found out by a tab that wakes up late', async () => {
    const { auth } = await signedUp()
    const other = browser.open()
    await other.auth.session.load()
    other.sleep()
    await auth.signOut()
    const next = await signedUp()
    expect(other.auth.session.get()?.user.email).not.toBe(next.email)
    other.wake()
    await expect.poll(() => other.auth.session.get()?.user.email).toBe(next.email)
  })

  test('ends for a tab whose session was ended elsewhere', async () => {
    const ended = vi.fn()
    const { auth } = await signedUp({ onSignedOut: ended })
    await server.auth.sessions.revokeAll(auth.session.get()?.user.id ?? '')
    expect((await auth.fetch('/api/secret')).status).toBe(401)
    expect(auth.session.get()).toBeNull()
    expect(ended).toHaveBeenCalledTimes(1)
  })

  test('ends with the account', async () => {
    const { auth } = await signedUp()
    await auth.delete('/me', { password })
    expect(auth.session.get()).toBeNull()
  })

  test('is not told by an answer that a sign-out has overtaken', async () => {
    const { auth } = await signedUp()
    let answer = () => {}
    browser.instead = (_method, path) =>
      path === '/auth/me'
        ? new Promise((resolve) => {
            answer = () => resolve(Response.json(auth.session.get()))
          })
        : null
    const answered = new Promise<void>((resolve) => setTimeout(resolve, 50))
    const loading = auth.session.load()
    await answered
    const late = { ...auth.session.get() }
    await auth.signOut()
    browser.instead = null
    answer()
    await loading
    expect(late).toHaveProperty('user')
    expect(auth.session.get()).toBeNull()
  })
})

describe.each([
  ['with Web Locks', {}],
  ['without Web Locks', { locks: false }],
  ['without Web Locks and storage', { locks: false, storage: false }],
])('refreshing %s', (_, has) => {
  beforeEach(() => {
    browser = testBrowser(server, has)
  })

  test('a call whose access token has expired is sent again after one refresh, with its body', async () => {
    const { auth } = await signedUp()
    const url = `${server.url}/api/secret`
    const bodies = ['{"a":1}', new URLSearchParams({ a: '1' }), new Blob(['a']), new Uint8Array([1, 2]), undefined]
    for (const [index, body] of bodies.entries()) {
      await expire()
      expect((await auth.fetch('/api/secret', { method: 'POST', ...(body && { body }) })).status).toBe(200)
      expect(refreshes()).toBe(index + 1)
    }
    await expire()
    expect((await auth.fetch(new Request(url, { method: 'POST', body: 'a' }))).status).toBe(200)
    expect(server.calls.at(-1)?.headers).toMatchObject({ 'content-length': '1' })
    expect(server.calls).toHaveLength(6)
  })

  test('many calls of one tab cause one refresh, again and again', async () => {
    const { auth } = await signedUp()
    for (const round of [1, 2, 3]) {
      await expire()
      const answers = await Promise.all(Array.from({ length: 10 }, () => auth.fetch('/api/secret')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(refreshes()).toBe(round)
    }
  })

  test('five tabs at once cause one refresh, where they share anything', async () => {
    const first = await signedUp()
    const tabs = 'storage' in has ? [first] : [first, ...Array.from({ length: 4 }, () => browser.open())]
    for (const round of [1, 2, 3]) {
      await expire()
      const answers = await Promise.all(tabs.map(({ auth }) => auth.fetch('/api/secret')))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(refreshes()).toBe(round)
    }
  })
})

describe('a refresh that fails', () => {
  test('for want of a network fails the call like a network does, and signs nobody out', async () => {
    const ended = vi.fn()
    const { auth } = await signedUp({ onSignedOut: ended })
    await expire()
    browser.instead = failing('/auth/refresh', () => new TypeError('Failed to fetch'))
    const calls = Array.from({ length: 5 }, () => auth.fetch('/api/secret'))
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason: expect.any(TypeError) })
    expect(refreshes()).toBe(1)
    await expect(auth.session.refresh()).rejects.toMatchObject({ code: 'network_error', status: 0 })
    expect(auth.session.get()).toBeTruthy()

    browser.instead = null
    await expect.poll(() => auth.fetch('/api/secret').then(({ status }) => status, String)).toBe(200)
    expect(ended).not.toHaveBeenCalled()
  })

  test.each([
    [429, 'rate_limited', '30'],
    [503, 'store_unavailable', '7'],
  ])('with %i is the answer to the call, and no tab asks again before it may', async (status, code, seconds) => {
    const { auth } = await signedUp()
    const other = browser.open()
    await other.auth.session.load()
    await expire()
    browser.instead = failing('/auth/refresh', () => problem(status, code, { 'retry-after': seconds }))
    for (const tab of [auth, auth, other.auth]) {
      const answer = await tab.fetch('/api/secret')
      expect([answer.status, await answer.json()]).toEqual([status, { status, code }])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(Number(seconds) - 3)
    }
    expect(refreshes()).toBe(1)
    await expect(auth.session.refresh()).rejects.toMatchObject({ code, status })
    expect(auth.session.get()).toBeTruthy()
  })

  test.each([
    [403, 'csrf_rejected'],
    [500, 'internal_error'],
    [401, 'invalid_credentials'],
  ])('with %i %s signs nobody out', async (status, code) => {
    const { auth } = await signedUp()
    await expire()
    browser.instead = failing('/auth/refresh', () => problem(status, code))
    expect((await auth.fetch('/api/secret')).status).toBe(status)
    expect(auth.session.get()).toBeTruthy()
  })

  test.each(['unauthenticated', 'token_revoked', 'session_expired'])(
    'with %s signs out every tab, and none asks again',
    async (code) => {
      const ended = vi.fn()
      const { auth } = await signedUp({ onSignedOut: ended })
      const other = browser.open({ onSignedOut: ended })
      await other.auth.session.load()
      await expire()
      browser.instead = failing('/auth/refresh', () => problem(401, code))
      expect((await auth.fetch('/api/secret')).status).toBe(401)
      await expect.poll(() => [auth.session.get(), other.auth.session.get()]).toEqual([null, null])
      expect((await other.auth.fetch('/api/secret')).status).toBe(401)
      expect([refreshes(), ended.mock.calls.length]).toEqual([1, 2])
    },
  )

  test('a page of strangers asks for one refresh, not with every call', async () => {
    const { auth } = browser.open()
    expect(await auth.session.load()).toBeNull()
    for (let call = 0; call < 5; call += 1) expect((await auth.fetch('/api/secret')).status).toBe(401)
    expect(refreshes()).toBe(1)
  })
})

describe('nothing is refreshed or sent again', () => {
  test('for any other refusal', async () => {
    const { auth } = await signedUp()
    for (const [status, code] of [
      [401, 'invalid_credentials'],
      [401, 'invalid_code'],
      [403, 'csrf_rejected'],
      [429, 'rate_limited'],
      [503, 'store_unavailable'],
    ] as const) {
      browser.instead = failing('/api/secret', () => problem(status, code))
      expect((await auth.fetch('/api/secret')).status).toBe(status)
    }
    browser.instead = null
    expect((await auth.fetch('/api/broken')).status).toBe(401)
    expect([refreshes(), browser.sent.length]).toEqual([0, 6])
  })

  test('for another origin, which gets no cookies of ours', async () => {
    const { auth } = await signedUp()
    browser.instead = failing('/anything', () => problem(401, 'unauthenticated'))
    expect((await auth.fetch('https://elsewhere.test/anything')).status).toBe(401)
    expect((await auth.fetch('//elsewhere.test/anything')).status).toBe(401)
    expect(refreshes()).toBe(0)
  })

  test('of a stream', async () => {
    const { auth } = await signedUp()
    await expire()
    const init: RequestInit = { method: 'POST', body: new Blob(['a']).stream() }
    expect((await auth.fetch('/api/secret', Object.assign(init, { duplex: 'half' }))).status).toBe(401)
    expect(refreshes()).toBe(0)
  })

  test('more than once when the server refuses a fresh token too', async () => {
    const { auth } = await signedUp()
    browser.instead = failing('/api/secret', () => problem(401, 'token_expired'))
    expect((await auth.fetch('/api/secret')).status).toBe(401)
    expect(browser.sent).toEqual(['GET /api/secret', 'POST /auth/refresh', 'GET /api/secret'])
  })

  test('in the name of another user than the one who meant it', async () => {
    const first = await signedUp()
    const other = browser.open()
    await other.auth.session.load()
    const next = await signedUp()
    await first.auth.signIn({ email: next.email, password })
    await expect.poll(() => other.auth.session.get()?.user.email).toBe(next.email)

    // The second tab shows one user; the sign-in of another comes between its call and the answer.
    let refused = false
    browser.instead = async (method) => {
      if (method !== 'PUT' || refused) return null
      refused = true
      await first.auth.signIn({ email: first.email, password })
      return problem(401, 'token_expired')
    }
    expect((await other.auth.fetch('/api/secret', { method: 'PUT' })).status).toBe(401)
    expect(server.calls).toEqual([])
  })
})

describe('ways in', () => {
  test('a second factor is asked for, and proved', async () => {
    const { auth, email } = await signedUp()
    const { secret } = await auth.post<{ secret: string }>('/two-factor/totp', { password })
    const code = () => totpCode(secret, server.runtime.clock.now())
    const { backupCodes } = await auth.post<{ backupCodes: string[] }>('/two-factor/totp/confirm', { code: code() })
    expect(auth.session.get()?.user.twoFactor).toBe(true)
    await auth.signOut()

    expect(await auth.signIn({ email, password })).toMatchObject({
      status: 'two_factor_required',
      methods: expect.any(Array),
    })
    expect(auth.session.get()).toBeNull()
    await expect(auth.verifyTwoFactor({ code: '000000' })).rejects.toMatchObject({ code: 'invalid_code' })
    await auth.verifyTwoFactor({ code: backupCodes[0] ?? '' })
    expect(auth.session.get()?.user.email).toBe(email)

    await expire()
    await server.runtime.clock.advance('1h')
    await auth.delete('/two-factor', { password, code: code() })
    await expect.poll(() => auth.session.get()?.user.twoFactor).toBe(false)
  })

  test('a mailed code signs in', async () => {
    const { auth, email } = await signedUp()
    await auth.signOut()
    expect(await auth.requestCode({ email })).toEqual({ status: 'code_sent' })
    const mail = await server.mailbox.waitFor(email, 'code')
    await auth.verifyCode({ email, code: server.mailbox.code(mail) })
    expect(auth.session.get()?.user.email).toBe(email)
  })

  test('what the server refuses is an error that says all it says', async () => {
    const { auth } = browser.open()
    const refused = await auth.signUp({ email: 'no address', password }).catch((error) => error)
    expect(refused).toBeInstanceOf(AuthClientError)
    expect(refused).toMatchObject({ code: 'invalid_request', status: 400, errors: [{ path: 'email' }] })
    expect(refused.requestId).toMatch(/./)
    const weak = auth.signUp({ email: 'weak@example.test', password: 'password123' })
    await expect(weak).rejects.toMatchObject({ code: 'weak_password', status: 422, reasons: ['common'] })

    browser.instead = failing('/auth/login', () => problem(429, 'rate_limited', { 'retry-after': '30' }))
    const login = () => auth.signIn({ email: 'a@example.test', password })
    await expect(login()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 30 })
    const unverified = JSON.stringify({ code: 'email_not_verified', mailSent: false, retryAfter: 90 })
    const asProblem = { status: 403, headers: { 'content-type': 'application/problem+json' } }
    browser.instead = failing('/auth/login', () => new Response(unverified, asProblem))
    await expect(login()).rejects.toMatchObject({ code: 'email_not_verified', mailSent: false, retryAfter: 90 })
    browser.instead = failing('/auth/login', () => new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(login()).rejects.toMatchObject({ code: 'unexpected_answer', status: 502, requestId: null })
    browser.instead = failing('/auth/login', () => new Response('<h1>Welcome</h1>'))
    await expect(login()).rejects.toMatchObject({ code: 'unexpected_answer', status: 200 })
    browser.instead = failing('/auth/login', () => new TypeError('Failed to fetch'))
    await expect(login()).rejects.toMatchObject({ code: 'network_error', status: 0 })
  })

  test('a sign-out that does not reach the server is an error, and the session goes on', async () => {
    const { auth } = await signedUp()
    browser.instead = failing('/auth/logout', () => new TypeError('Failed to fetch'))
    await expect(auth.signOut()).rejects.toMatchObject({ code: 'network_error' })
    expect(auth.session.get()).toBeTruthy()
  })

  test('a change whose access token has expired refreshes in its own turn', async () => {
    const { auth } = await signedUp()
    await expire()
    await auth.post('/password/change', { currentPassword: password, newPassword: `${password} and steel` })
    expect(refreshes()).toBe(1)
    expect((await auth.fetch('/api/secret')).status).toBe(200)
  })
})

test('ATK-082 what the tabs share holds neither token nor code nor address', async () => {
  const seen: string[] = []
  browser.stored.set = (key, value) => {
    seen.push(key, value)
    return Map.prototype.set.call(browser.stored, key, value)
  }
  const { auth, email } = await signedUp()
  await expire()
  await auth.fetch('/api/secret')
  await auth.signOut()
  expect(seen.length).toBeGreaterThan(4)
  for (const text of seen) {
    expect(text).not.toMatch(/eyJ|token|@/)
    expect(text).not.toContain(email)
  }
})

test.each(['not json', '{"at":99999999999999,"kind":"out"}', 'null', '[]', '{"at":1,"kind":"wait","until":1}'])(
  'what somebody else wrote into the storage («%s») does no harm',
  async (text) => {
    const { auth } = await signedUp()
    for (const key of browser.stored.keys()) browser.stored.set(key, text)
    const { auth: other } = browser.open()
    await expire()
    expect((await other.fetch('/api/secret')).status).toBe(200)
    expect((await auth.fetch('/api/secret')).status).toBe(200)
    expect(auth.session.get()).toBeTruthy()
  },
)
