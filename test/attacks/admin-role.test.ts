import { describe, expect, onTestFinished, test } from 'vitest'
import { createOAuthPeer, type SignedIn, type TestClient } from '../../src/testing.js'
import { attackServer, claimsOf, heldTokens } from '../support/attack-server.js'
import { ada, sharedSettings, type TestAuth, testAuth } from '../support/auth.js'
import { enterAs, landedAt, oauthWorld, trustedCompany } from '../support/oauth.js'
import { tokenSettings } from '../support/tokens.js'
import { createForge } from './forge.js'

const admin = { emails: [ada.email] }
const elsewhere = 'elsewhere@example.test'

/** The roles that the guard, the answers and the server-side calls show. */
async function rolesSeen({ auth, passed }: Pick<TestAuth, 'auth' | 'passed'>, browser: TestClient) {
  const { status } = await browser.get('/api/notes')
  const principal = passed.at(-1)?.principal
  const guarded = status === 200 && principal?.kind === 'session' ? principal.roles : status
  const { user } = (await browser.get<SignedIn>('/auth/me')).body
  const account = user && (await auth.users.get(user.id))
  return [guarded, user?.roles ?? null, account?.roles ?? null]
}

const everywhere = [['ADMIN'], ['ADMIN'], ['ADMIN']]
const nowhere = [[], [], []]

async function changeAddress({ mailbox }: TestAuth, browser: TestClient, from: string, to: string, opener = browser) {
  await browser.post('/auth/email/change', { newEmail: to, password: ada.password })
  const token = mailbox.token(await mailbox.waitFor(to, /confirm/i))
  expect((await opener.post('/auth/email/confirm', { token })).status).toBe(200)
  return mailbox.token(await mailbox.waitFor(from, /address/i))
}

async function reset({ mailbox }: Pick<TestAuth, 'mailbox'>, browser: TestClient, password: string) {
  await browser.post('/auth/password/forgot', { email: ada.email })
  const token = mailbox.token(await mailbox.waitFor(ada.email, /password/i))
  expect((await browser.post('/auth/password/reset', { token, password })).status).toBe(200)
}

async function enterByCode({ mailbox }: Pick<TestAuth, 'mailbox'>, browser: TestClient) {
  await browser.post('/auth/otp', { email: ada.email })
  const code = mailbox.code(await mailbox.waitFor(ada.email, /code/i))
  return browser.post<SignedIn>('/auth/otp/verify', { email: ada.email, code })
}

/** With a second administrator: the last one may not lose the role. */
async function besideAnother() {
  const email = 'second@example.test'
  const world = await testAuth({ admin: { ...admin, emails: [...admin.emails, email] } })
  await world.client().signUp({ ...ada, email })
  return world
}

describe('ATK-114 ADMIN lost', () => {
  test('ATK-114 an account whose address is proved and listed has the role everywhere, in any spelling', async () => {
    const world = await testAuth({ admin: { emails: ['ADA@Example.Test'] } })
    const browser = world.client()
    await browser.signUp({ ...ada, email: 'Ada@example.test' })
    expect(await rolesSeen(world, browser)).toEqual(everywhere)
    const other = world.client()
    await other.signUp({ ...ada, email: elsewhere })
    expect(await rolesSeen(world, other)).toEqual(nowhere)
  })

  test('ATK-114 a changed address takes the role at once, also from access tokens that were issued before', async () => {
    const world = await besideAnother()
    const browser = world.client()
    await browser.signUp(ada)
    const former = browser.copy()
    await changeAddress(world, browser, ada.email, elsewhere)
    expect((await former.get('/api/notes')).body).toMatchObject({ code: 'token_expired' })
    expect(await rolesSeen(world, browser)).toEqual(nowhere)
  })

  test('ATK-114 a changed address gives the role at once where a session of the account confirms it', async () => {
    const world = await testAuth({ admin })
    const browser = world.client()
    await browser.signUp({ ...ada, email: elsewhere })
    await changeAddress(world, browser, elsewhere, ada.email)
    expect(await rolesSeen(world, browser)).toEqual(everywhere)
  })

  test('ATK-114 an address that was removed from admin.emails has no role after a restart', async () => {
    const shared = sharedSettings()
    const before = await testAuth({ ...shared, admin })
    const browser = before.client()
    await browser.signUp(ada)
    expect(await rolesSeen(before, browser)).toEqual(everywhere)
    const after = await testAuth({ ...shared, admin: { emails: [] } }, before.runtime)
    const headers = { authorization: `Bearer ${heldTokens(browser).access}` }
    await after.client({ as: 'server' }).get('/api/notes', { headers })
    expect(after.passed.at(-1)?.principal).toMatchObject({ email: ada.email, roles: [] })
    expect((await after.client().signIn(ada)).body.user.roles).toEqual([])
  })
})

describe('ATK-114 an address that is verified but not proved', () => {
  test('ATK-114 one that a click in a foreign browser confirmed gives no role, and a reset then shuts the other out', async () => {
    const world = await testAuth({ admin })
    const [stranger, owner] = [world.client(), world.client()]
    await stranger.signUp({ ...ada, email: elsewhere })
    await changeAddress(world, stranger, elsewhere, ada.email, owner)
    await stranger.refresh()
    expect(await rolesSeen(world, stranger)).toEqual(nowhere)

    await reset(world, owner, 'a difference engine of brass')
    expect((await stranger.get('/api/notes')).status).toBe(401)
    expect((await stranger.post('/auth/login', ada)).status).toBe(401)
    await owner.signIn({ ...ada, password: 'a difference engine of brass' })
    expect(await rolesSeen(world, owner)).toEqual(everywhere)
  })

  test('ATK-114 an undone change of address proves nothing by itself', async () => {
    const world = await besideAnother()
    const browser = world.client()
    await browser.signUp(ada)
    const undo = await changeAddress(world, browser, ada.email, elsewhere)
    expect((await browser.post('/auth/email/undo', { token: undo })).status).toBe(200)
    const { body } = await browser.signIn(ada)
    expect(body.user).toMatchObject({ email: ada.email, emailVerified: true, roles: [] })
    await reset(world, browser, ada.password.toUpperCase())
    await browser.signIn({ ...ada, password: ada.password.toUpperCase() })
    expect(await rolesSeen(world, browser)).toEqual(everywhere)
  })

  test('ATK-114 a document of codehooks-auth gives no role until a mailed code, which removes its password', async () => {
    const world = await testAuth({ admin })
    const password = '$2b$04$zXHSlG3tGp0uKDBcWNW8vOXcCPJ4nOpnWKKO0mLv0rIpGRTrUSJdW'
    await world.auth.users.import([{ _id: '1', email: ada.email, active: true, password }])
    const browser = world.client()
    const entered = await enterByCode(world, browser)
    expect(entered.body.user.roles).toEqual(['ADMIN'])
    expect(await rolesSeen(world, browser)).toEqual(everywhere)
    expect((await browser.post('/auth/password/change', { newPassword: ada.password })).status).toBe(200)
  })

  test('ATK-114 a mailed code keeps what an ordinary account holds', async () => {
    const world = await testAuth()
    await world.auth.users.import([{ _id: '1', email: ada.email, active: true, name: 'Ada' }])
    const account = await world.auth.users.findByEmail(ada.email)
    await world.auth.users.setPassword(account?.id ?? '', ada.password)
    await enterByCode(world, world.client())
    expect((await world.client().signIn(ada)).body.user).toMatchObject({ name: 'Ada' })
  })
})

describe('ATK-115 ADMIN smuggled in', () => {
  const refused = { code: 'invalid_request', details: { errors: [{ path: 'roles' }] } }

  test('ATK-115 the calls of the application refuse the role', async () => {
    const { auth } = await testAuth({ admin })
    const roles = ['EDITOR', 'ADMIN']
    await expect(auth.users.create({ ...ada, roles })).rejects.toMatchObject(refused)
    const { id } = await auth.users.create({ ...ada, email: elsewhere })
    await expect(auth.users.update(id, { roles })).rejects.toMatchObject(refused)
    const { items } = await auth.users.import([{ email: 'third@example.test', roles }])
    expect(items).toMatchObject([{ status: 'failed', code: 'invalid_request', path: 'roles' }])
    expect((await auth.users.get(id))?.roles).toEqual([])
  })

  test('ATK-115 a hook cannot give it', async () => {
    const faults: unknown[] = []
    const world: TestAuth = await testAuth({
      admin,
      hooks: {
        async afterRegister({ user }) {
          await world.auth.users.update(user.id, { roles: ['ADMIN'] }).catch((fault: unknown) => faults.push(fault))
          Object.assign(user, { roles: ['ADMIN'] })
        },
      },
    })
    const browser = world.client()
    await browser.signUp({ ...ada, email: elsewhere })
    expect(faults).toMatchObject([refused])
    expect(await rolesSeen(world, browser)).toEqual(nowhere)
  })

  test('ATK-115 neither registration, profile nor the schema of extra fields gives it', async () => {
    const fields = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => ({ value: { ...Object(value), roles: ['ADMIN'] } }),
      },
    } as const
    const world = await testAuth({ admin, registration: { fields } })
    const browser = world.client()
    const extra = { roles: ['ADMIN'], role: 'ADMIN' }
    await browser.post('/auth/register', { ...ada, email: elsewhere, ...extra })
    const code = world.mailbox.code(await world.mailbox.waitFor(elsewhere))
    expect((await browser.post('/auth/verify-email', { code, ...extra })).status).toBe(200)
    await browser.patch('/auth/me', { name: 'Ada', ...extra })
    expect(await rolesSeen(world, browser)).toEqual(nowhere)
  })

  test('ATK-115 a profile at a provider, and one that only trustEmail vouches for, gives no role', async () => {
    const peer = createOAuthPeer()
    const world = await oauthWorld(
      { admin: { emails: ['ada@company.test', 'ada@gmail.com'] }, oauth: trustedCompany(peer) },
      peer,
    )
    const claims = { roles: ['ADMIN'], role: 'ADMIN' }
    const browser = world.client()
    await enterAs(world, browser, { id: '7', email: 'ada@company.test', claims }, 'company')
    expect((await browser.get<SignedIn>('/auth/me')).body.user).toMatchObject({ emailVerified: true, roles: [] })
    const other = world.client()
    await enterAs(world, other, { id: '8', email: 'ada@gmail.com', claims }, 'google')
    expect((await other.get<SignedIn>('/auth/me')).body.user).toMatchObject({ roles: ['ADMIN'] })
  })

  test('ATK-115 a provider that only trustEmail vouches for is not let into an account of an administrator', async () => {
    const peer = createOAuthPeer()
    const world = await oauthWorld({ admin, oauth: trustedCompany(peer) }, peer)
    await world.client().signUp(ada)
    await world.client().signUp({ ...ada, email: elsewhere })
    const enter = async (email: string) =>
      landedAt(await enterAs(world, world.client(), { id: email, email }, 'company'))
    expect(await enter(ada.email)).toContain('error=oauth_link_required')
    expect(await enter(elsewhere)).toBe('/')
  })

  test('ATK-115 a row that was written into the store gives no role, and no token carries it', async () => {
    const server = await attackServer({ file: true, settings: { admin } })
    onTestFinished(() => server.close())
    const [owner, other] = [server.client(), server.client()]
    await owner.signUp(ada)
    await other.signUp({ ...ada, email: elsewhere })
    server.sql(`update latchkey_users set roles = '["ADMIN","EDITOR"]'`)
    for (const [browser, roles] of [
      [owner, ['EDITOR', 'ADMIN']],
      [other, ['EDITOR']],
    ] as const) {
      const { body } = await browser.signIn(browser === owner ? ada : { ...ada, email: elsewhere })
      expect(body.user.roles).toEqual(roles)
      expect(claimsOf(heldTokens(browser).access)).toMatchObject({ roles: ['EDITOR'] })
    }
  })

  test('ATK-115 a token that carries the role gives it to no account without the address', async () => {
    const world = await testAuth({
      admin,
      JWT_ACCESS_TOKEN_SECRET: tokenSettings.accessSecrets[0],
      JWT_REFRESH_TOKEN_SECRET: tokenSettings.refreshSecrets[0],
    })
    const browser = world.client()
    await browser.signUp({ ...ada, email: elsewhere })
    const { access } = heldTokens(browser)
    const forge = createForge(access)
    for (const [claims, roles] of [
      [{ roles: ['ADMIN', 'EDITOR'] }, ['EDITOR']],
      [{ email: ada.email, email_proved: undefined }, []],
      [{ email: ada.email, email_verified: false }, []],
      [{ email: ada.email }, ['ADMIN']],
    ] as const) {
      const payload = JSON.stringify({ ...claimsOf(access), ...claims })
      const token = forge.sign(forge.header, payload, { alg: 'HS256', key: 'access_secret' })
      await world.client({ as: 'server' }).get('/api/notes', { headers: { authorization: `Bearer ${token}` } })
      expect(world.passed.at(-1)?.principal).toMatchObject({ roles })
    }
    const wrong = JSON.stringify({ ...claimsOf(access), email_proved: 'yes' })
    const token = forge.sign(forge.header, wrong, { alg: 'HS256', key: 'access_secret' })
    const answer = await world
      .client({ as: 'server' })
      .get('/api/notes', { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
  })
})
