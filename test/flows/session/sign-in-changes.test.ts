import { hash as bcrypt } from 'bcryptjs'
import { expect, test } from 'vitest'
import type { LatchkeySettings } from '../../../src/index.js'
import type { Account } from '../../../src/model/account.js'
import type { SignedIn, TestClient } from '../../../src/testing.js'
import { ada, type TestAuth, testAuth } from '../../support/auth.js'
import { meddledDatabase } from '../../support/meddled-database.js'
import { adaAtGoogle, enterAs, landedAt, oauthWorld } from '../../support/oauth.js'
import { enrol, firstStep } from '../../support/totp.js'

type Change = (auth: TestAuth['auth'], id: string) => Promise<unknown>

const setsRole: Change = (auth, id) => auth.users.update(id, { roles: ['MEMBER'] })
const setsName: Change = (auth, id) => auth.users.update(id, { name: 'Ada' })

/** Hooks are settings, and what they call comes of them. */
function hooked(name: 'afterRegister' | 'beforeLogin' | 'afterLogin', change: Change) {
  const held: { auth?: TestAuth['auth'] } = {}
  const hooks: LatchkeySettings['hooks'] = {
    [name]: async ({ user }: { user: { id: string } }) => {
      if (held.auth) await change(held.auth, user.id)
    },
  }
  return { held, hooks }
}

async function worldOf(name: Parameters<typeof hooked>[0], change: Change, more: Partial<LatchkeySettings> = {}) {
  const { held, hooks } = hooked(name, change)
  const world = await testAuth({ hooks, ...more })
  held.auth = world.auth
  return world
}

/** Whether what the browser holds counts as it is, without a refresh. */
async function expectIn(browser: TestClient, roles: readonly string[]): Promise<void> {
  const { status, body } = await browser.get<SignedIn>('/auth/me')
  expect([status, body.user?.roles]).toEqual([200, roles])
}

async function failedLogins({ auth }: Pick<TestAuth, 'auth'>): Promise<object[]> {
  const { items } = await auth.audit.list({ event: 'login' })
  return items.filter(({ outcome }) => outcome === 'failure').map(({ detail }) => detail)
}

async function accountOf({ auth }: Pick<TestAuth, 'auth'>): Promise<Account> {
  const user = await auth.users.findByEmail(ada.email)
  if (!user) throw new Error('no such account')
  return user
}

async function mailedCode({ mailbox }: TestAuth, browser: TestClient) {
  await browser.post('/auth/otp', { email: ada.email })
  return mailbox.code(await mailbox.waitFor(ada.email, 'Your code to sign in'))
}

test.each([
  ['afterRegister', ['MEMBER']],
  ['beforeLogin', ['MEMBER']],
  ['afterLogin', ['MEMBER']],
] as const)('a role that %s sets is in the session that confirms the registration', async (name, roles) => {
  const world = await worldOf(name, setsRole)
  const browser = world.client()
  await browser.post('/auth/register', ada)
  const token = world.mailbox.token(await world.mailbox.waitFor(ada.email))
  const { status, body } = await browser.post<SignedIn>('/auth/verify-email', { token })
  expect([status, body.user?.roles]).toEqual([200, roles])
  await expectIn(browser, roles)
  expect(await failedLogins(world)).toEqual([])
})

test.each(['afterRegister', 'beforeLogin', 'afterLogin'] as const)(
  'a role that %s sets is in the session that a registration begins with, where verification is optional',
  async (name) => {
    const world = await worldOf(name, setsRole, { registration: { emailVerification: 'optional' } })
    const browser = world.client()
    expect((await browser.post('/auth/register', ada)).status).toBe(201)
    await expectIn(browser, ['MEMBER'])
  },
)

test.each(['afterRegister', 'beforeLogin', 'afterLogin'] as const)(
  'a role that %s sets is in the session of whoever comes from a provider for the first time',
  async (name) => {
    const { held, hooks } = hooked(name, setsRole)
    const world = await oauthWorld({ hooks })
    held.auth = world.auth
    const browser = world.client()
    expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toBe('/')
    await expectIn(browser, ['MEMBER'])
  },
)

test.each([
  ['beforeLogin', 'role', setsRole],
  ['beforeLogin', 'name', setsName],
  ['afterLogin', 'role', setsRole],
  ['afterLogin', 'name', setsName],
] as const)('where %s sets a %s, every way in still is one', async (name, _what, change) => {
  const world = await worldOf(name, change)
  const first = world.client()
  await first.signUp(ada)
  const { roles } = await accountOf(world)
  const browser = world.client()
  expect((await browser.post('/auth/login', ada)).status).toBe(200)
  await expectIn(browser, roles)

  const mailed = world.client()
  const code = await mailedCode(world, mailed)
  expect((await mailed.post('/auth/otp/verify', { code })).status).toBe(200)
  await expectIn(mailed, roles)

  const factor = await enrol(mailed, ada.password, world.runtime.clock)
  const second = world.client()
  const challenge = await firstStep(second, ada)
  const answer = await second.post('/auth/login/two-factor', { challenge, code: await factor.nextCode() })
  expect(answer.status, answer.text).toBe(200)
  await expectIn(second, roles)
  expect(await failedLogins(world)).toEqual([])
})

test('a hook may change the account in the sign-in that replaces its hash by a stronger one', async () => {
  const world = await worldOf('beforeLogin', setsRole)
  const passwordHash = await bcrypt(ada.password, 5)
  await world.auth.users.import([{ email: ada.email, passwordHash, emailVerified: true }])
  expect((await world.client().post('/auth/login', ada)).status).toBe(200)
})

test.each([
  ['disables the account', (auth: TestAuth['auth'], id: string) => auth.users.disable(id)],
  ['ends every session', (auth: TestAuth['auth'], id: string) => auth.sessions.revokeAll(id)],
])('a hook after the sign-in that %s signs nobody in', async (_what, change) => {
  const world = await worldOf('afterLogin', change)
  const { auth, client } = world
  await auth.users.create({ ...ada, emailVerified: true })
  const browser = client()
  expect((await browser.post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
  expect(browser.cookies.get('access-token')).toBeNull()
  expect(await failedLogins(world)).toEqual([{ method: 'password', reason: 'invalid_credentials' }])
})

test.each([
  ['a role', `update latchkey_users set version = version + 1, roles = '["MEMBER"]'`, 200],
  ['a name', "update latchkey_users set version = version + 1, name = 'Ada'", 200],
  ['the password', "update latchkey_users set version = version + 1, password_hash = 'another'", 401],
  ['no password any more', 'update latchkey_users set version = version + 1, password_hash = null', 401],
  ['being disabled', 'update latchkey_users set version = version + 1, disabled_at = 1', 401],
  ['being deleted', 'delete from latchkey_users', 401],
  ['another address', "update latchkey_users set version = version + 1, email_canonical = 'moved@example.test'", 401],
  ['an address that is no longer verified', 'update latchkey_users set version = version + 1, email_verified = 0', 401],
  [
    'a second factor',
    `update latchkey_users set version = version + 1, totp_secret = 'x', totp_step = 0, totp_at = 1`,
    401,
  ],
])('ATK-072 %s that comes while a right password is compared decides as it must', async (_what, change, status) => {
  const database = meddledDatabase()
  const world = await testAuth({ database: database.dialect })
  await world.client().signUp(ada)
  const browser = world.client()
  database.after(/from "latchkey_users" where "email_canonical" = /, change)
  const answer = await browser.post('/auth/login', ada)
  expect(answer.status, answer.text).toBe(status)
  if (status === 200) {
    expect((await browser.get('/auth/me')).status).toBe(200)
    expect(await failedLogins(world)).toEqual([])
  } else {
    expect(answer.body).toMatchObject({ code: 'invalid_credentials' })
    expect(await failedLogins(world)).toEqual([{ method: 'password', reason: 'invalid_credentials' }])
  }
})
