import { afterEach, beforeEach, expect, test } from 'vitest'
import { AuthError } from '../../../src/index.js'
import { type AttackServer, ada, attackServer } from '../../support/attack-server.js'
import { testAuth } from '../../support/auth.js'
import { failingDatabase } from '../../support/failing-database.js'
import { enrol, firstStep } from '../../support/totp.js'

let server: AttackServer

beforeEach(async () => {
  server = await attackServer({ file: true })
})

afterEach(() => server.close())

/** What the sign-ins so far have left in the audit log. */
function attempts(): object[] {
  return server.sql("select user_id, outcome, detail from latchkey_audit where event = 'login' order by seq")
}

test('ATK-112 a right password that does not sign in is written down, with the reason', async () => {
  const browser = server.client()
  await browser.post('/auth/register', ada)
  expect((await server.client().post('/auth/login', ada)).body).toMatchObject({ code: 'email_not_verified' })
  expect(attempts()).toEqual([{ user_id: null, outcome: 'failure', detail: '{"reason":"email_not_verified"}' }])

  const bob = { ...ada, email: 'bob@example.test' }
  const userId = (await browser.signUp(bob)).body.user.id
  server.sql('delete from latchkey_audit')
  server.sql('update latchkey_users set email_verified = 0')
  expect((await browser.post('/auth/login', bob)).body).toMatchObject({ code: 'email_not_verified' })
  server.sql('update latchkey_users set disabled_at = 1')
  expect((await browser.post('/auth/login', bob)).body).toMatchObject({ code: 'account_disabled' })
  expect(attempts()).toEqual([
    { user_id: userId, outcome: 'failure', detail: '{"reason":"email_not_verified"}' },
    { user_id: userId, outcome: 'failure', detail: '{"reason":"account_disabled"}' },
  ])
})

test('ATK-112 a wrong password is written down once, whether or not there is such an account', async () => {
  const { body } = await server.client().signUp(ada)
  server.sql('delete from latchkey_audit')
  for (const email of [ada.email, 'nobody@example.test']) {
    await server.client().post('/auth/login', { email, password: 'not the right one' })
  }
  expect(attempts()).toEqual([
    { user_id: body.user.id, outcome: 'failure', detail: '{}' },
    { user_id: null, outcome: 'failure', detail: '{}' },
  ])
})

test.each([
  ['the browser cannot be remembered', /insert into "latchkey_devices"/],
  ['the session that the browser held cannot be ended', /delete from "latchkey_sessions" where "id" = /],
])('whoever has a new session gets its tokens, also where %s', async (_what, statement) => {
  const database = failingDatabase()
  const { auth, client } = await testAuth({ database: database.dialect })
  const browser = client()
  const { id } = (await browser.signUp(ada)).body.user
  if (String(statement).includes('devices')) browser.cookies.clear()
  database.failOn(statement)
  expect((await browser.post('/auth/login', ada)).status).toBe(200)
  database.failOn(null)
  expect((await browser.get('/auth/me')).status).toBe(200)
  expect((await auth.sessions.list(id)).items).toHaveLength(2)
})

test.each([
  ['with an error of its own', () => new AuthError('forbidden'), 'forbidden'],
  ['by failing', () => new Error('down'), 'hook_failed'],
])('ATK-112 a sign-in that beforeLogin refuses %s is written down once', async (_how, reason, code) => {
  let refuses = false
  const { auth, client } = await testAuth({
    hooks: {
      beforeLogin() {
        if (refuses) throw reason()
      },
    },
  })
  const { id } = (await client().signUp(ada)).body.user
  refuses = true
  expect((await client().post('/auth/login', ada)).body).toMatchObject({ code })
  const failed = (await auth.audit.list({ event: 'login' })).items.filter(({ outcome }) => outcome === 'failure')
  expect(failed).toMatchObject([{ userId: id, detail: { method: 'password', reason: code } }])
})

test('ATK-112 a second step that is too late or guessed too often is written down', async () => {
  const { auth, client, runtime } = await testAuth()
  const { id } = (await client().signUp(ada)).body.user
  const owner = client()
  await owner.signIn(ada)
  const factor = await enrol(owner, ada.password, runtime.clock)
  const browser = client()
  const challenge = await firstStep(browser, ada)
  const step = async (of: string) =>
    (await browser.post<{ code: string }>('/auth/login/two-factor', { challenge: of, code: factor.wrongCode() })).body
      .code
  for (let nth = 0; nth < 5; nth += 1) expect(await step(challenge)).toBe('invalid_code')
  expect(await step(challenge)).toBe('invalid_token')
  expect(await step('x'.repeat(43))).toBe('invalid_token')
  const { items } = await auth.audit.list({ event: 'login', limit: 2 })
  expect(items).toMatchObject([
    { userId: null, outcome: 'failure', detail: { reason: 'invalid_token' } },
    { userId: id, outcome: 'failure', detail: { method: 'password', reason: 'invalid_token' } },
  ])
})

test('ATK-112 a confirmation by a wrong password or a wrong code is written down as a sign-in that failed', async () => {
  const { auth, client, mailbox } = await testAuth()
  const browser = client()
  await browser.post('/auth/register', ada)
  const mail = await mailbox.waitFor(ada.email)
  const [token, code] = [mailbox.token(mail), mailbox.code(mail)]
  const wrong = { email: ada.email, code: '0000000' }
  for (const [asked, proof, expected] of [
    [client(), { token, password: 'not the password' }, 'invalid_credentials'],
    [client(), { email: ada.email, code, password: 'not the password' }, 'invalid_token'],
    [client(), { ...wrong, password: ada.password }, 'invalid_token'],
    [client(), wrong, 'invalid_token'],
    [browser, wrong, 'invalid_token'],
    [browser, { token: 'x'.repeat(43) }, 'invalid_token'],
  ] as const) {
    expect((await asked.post('/auth/verify-email', proof)).body).toMatchObject({ code: expected })
    const [event] = (await auth.audit.list({ limit: 1 })).items
    const detail = { method: 'registration', reason: expected }
    expect(event).toMatchObject({ event: 'login', outcome: 'failure', userId: null, detail })
  }
})

test('ATK-112 a registration of an address that is taken is written down, also where the answer says so', async () => {
  const { auth, client } = await testAuth({ registration: { emailVerification: 'optional' } })
  const { body } = await client().post<{ user: { id: string } }>('/auth/register', ada)
  expect((await client().post('/auth/register', ada)).body).toMatchObject({ code: 'email_taken' })
  expect((await auth.audit.list({ limit: 1 })).items).toMatchObject([
    { event: 'registration_requested', outcome: 'failure', userId: body.user.id, detail: { reason: 'email_taken' } },
  ])
})
