import { expect, onTestFinished, test } from 'vitest'
import { createAuth, SettingsError } from '../src/index.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../src/testing.js'

const ada = { email: 'ada@example.test', password: 'correct horse battery' }

function start() {
  const mailbox = createTestMailbox()
  const runtime = createTestRuntime()
  const auth = createAuth(testSettings({ mailbox }), runtime)
  onTestFinished(() => auth.close())
  const next = () => Response.json({ notes: [] })
  const client = (as: 'browser' | 'token') => createTestClient(auth, { as, mailbox, clock: runtime.clock, next })
  return { auth, runtime, mailbox, client }
}

test('settings are complete, with other secrets every time', () => {
  const [one, other] = [testSettings(), testSettings()]
  expect(one).toMatchObject({ baseUrl: 'http://localhost:3000', database: 'sqlite::memory:', limits: false })
  const secrets = [one, other].flatMap((each) => [each.JWT_ACCESS_TOKEN_SECRET, each.JWT_REFRESH_TOKEN_SECRET])
  expect(new Set(secrets).size).toBe(4)
})

test('settings take overrides, and a mailbox for the mails', () => {
  const mailbox = createTestMailbox()
  const settings = testSettings({ mailbox, baseUrl: 'https://app.example.test', password: { minLength: 12 } })
  expect(settings).toMatchObject({ baseUrl: 'https://app.example.test', mail: { transport: mailbox.transport } })
  expect(settings.password).toEqual({ cost: 4, checkBreached: false, minLength: 12 })
  expect(settings).not.toHaveProperty('mailbox')
})

test('settings of a test are refused outside of one: no limits and cheap hashes need the test runtime', async () => {
  const { clock, now, fetch } = createTestRuntime()
  const forged = {
    now,
    fetch,
    clock,
    testing: true,
    [Symbol('latchkey.testing')]: { monotonic: now, timer: clock.timer },
  }
  for (const runtime of [undefined, { now, fetch }, forged]) {
    const attempt = () => createAuth(testSettings(), runtime)
    expect(attempt).toThrow(SettingsError)
    expect(attempt).toThrow(/limits/)
    expect(attempt).toThrow(/password\.cost/)
  }
})

test('a browser signs up, finds its token expired after 15 minutes, refreshes and signs out', async () => {
  const { runtime, client } = start()
  const browser = client('browser')
  const signedUp = await browser.signUp(ada)
  expect(signedUp.body.user).toMatchObject({ email: ada.email, emailVerified: true })
  expect((await browser.get('/api/notes')).body).toEqual({ notes: [] })

  await runtime.clock.advance('14m')
  expect((await browser.get('/api/notes')).status).toBe(200)
  await runtime.clock.advance('1m')
  expect((await browser.get('/api/notes')).status).toBe(401)
  expect((await browser.refresh()).status).toBe(200)
  expect((await browser.get('/api/notes')).status).toBe(200)

  expect((await browser.signOut()).status).toBe(204)
  expect(browser.cookies.get('access-token')).toBeNull()
  expect((await browser.get('/api/notes')).status).toBe(401)
  expect((await browser.signIn(ada)).status).toBe(200)
})

test('an app without cookies does the same with bearer tokens', async () => {
  const { runtime, client } = start()
  const app = client('token')
  await app.signUp(ada)
  const { accessToken } = app.tokens() ?? {}
  expect(app.cookies.all()).toEqual([])
  expect((await app.get('/api/notes')).status).toBe(200)

  await runtime.clock.advance('15m')
  expect((await app.get('/api/notes')).body).toMatchObject({ code: 'token_expired' })
  expect((await app.refresh()).status).toBe(200)
  expect(app.tokens()?.accessToken).not.toBe(accessToken)
  expect((await app.get('/api/notes')).status).toBe(200)
  expect((await app.signOut()).status).toBe(204)
  expect(app.tokens()).toBeNull()
})

test('a session ends for good when nobody refreshes it, however long the way of the clock', async () => {
  const { runtime, client } = start()
  const browser = client('browser')
  await browser.signUp(ada)
  await runtime.clock.advance('31d')
  expect(browser.cookies.get('refresh-token')).toBeNull()
  expect((await browser.refresh()).status).toBe(401)
  expect((await browser.signIn(ada)).status).toBe(200)
})

test('a wrong password is a thrown sign-in that tells status and code', async () => {
  const { client } = start()
  const browser = client('browser')
  await browser.signUp(ada)
  await expect(browser.signIn({ ...ada, password: 'not the password' })).rejects.toThrow(/401 .*invalid_credentials/)
})
