import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AuthError } from '../../../src/index.js'
import { createOAuthPeer, createTestRuntime, type SignedIn, type TestClient } from '../../../src/testing.js'
import { ada, testAuth } from '../../support/auth.js'
import { adaAtGoogle, comeBack, enterAs, goTo, landedAt, oauthWorld, tokenRequests } from '../../support/oauth.js'
import { enrol } from '../../support/totp.js'

async function me(client: TestClient) {
  return (await client.get<SignedIn>('/auth/me')).body.user
}

describe('signing in by a provider', () => {
  it.each(['google', 'github'] as const)(
    'makes an account of whoever comes from %s, and finds it again',
    async (name) => {
      const world = await oauthWorld()
      const browser = world.client()
      expect(landedAt(await enterAs(world, browser, adaAtGoogle, name))).toBe('/')
      const user = await me(browser)
      expect(user).toMatchObject({ email: 'ada@gmail.com', emailVerified: true, name: 'Ada Lovelace', roles: [] })
      expect(user.identities).toEqual([{ provider: name, linkedAt: user.createdAt }])
      expect((await browser.get('/api/notes')).body).toMatchObject({ principal: { amr: ['fed'] } })

      const other = world.client()
      await enterAs(world, other, { ...adaAtGoogle, name: 'Augusta' }, name)
      expect(await me(other)).toMatchObject({ id: user.id, name: 'Ada Lovelace' })
      const events = (await world.auth.audit.list({ userId: user.id })).items
      expect(events.map(({ event }) => event)).toEqual(['login', 'login', 'account_created'])
      for (const { detail } of events) expect(detail).toEqual({ method: `oauth:${name}` })
    },
  )

  it('leads on to where the browser asked to be led, and through the second step if there is one', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    expect(landedAt(await enterAs(world, browser, adaAtGoogle, 'google', '?redirect=/inbox?page=2'))).toBe(
      '/inbox?page=2',
    )
    await browser.post('/auth/password/change', { newPassword: ada.password })
    const factor = await enrol(browser, ada.password, world.runtime.clock)
    await world.runtime.clock.advance('30s')

    const second = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = world.peer.answer(await goTo(second, 'google', '?redirect=/inbox'))
    const asked = await comeBack(second, callback)
    expect(landedAt(asked)).toBe('/auth/two-factor?redirect=%2Finbox')
    expect(asked.cookies.map(({ name }) => name)).toEqual(['two-factor'])
    expect(landedAt(await comeBack(second, callback))).toBe('/auth/two-factor?redirect=%2Finbox')
    expect((await second.get('/api/notes')).status).toBe(401)
    await second.post('/auth/login/two-factor', { code: factor.code() })
    expect((await second.get('/api/notes')).body).toMatchObject({ principal: { amr: ['fed', 'otp', 'mfa'] } })
  })

  it('ends what the browser held before', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    await browser.signUp(ada)
    const former = browser.copy()
    await enterAs(world, browser, adaAtGoogle)
    expect(await me(browser)).toMatchObject({ email: 'ada@gmail.com' })
    expect((await former.get('/api/notes')).status).toBe(401)
  })

  it('works in several tabs of one browser side by side, in whatever order they come back', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    const urls = [await goTo(browser), await goTo(browser, 'github'), await goTo(browser, 'google', '?redirect=/third')]
    world.peer.signInAs(adaAtGoogle)
    const callbacks = urls.map((url) => world.peer.answer(url))
    expect(landedAt(await comeBack(browser, callbacks[2] ?? ''))).toBe('/third')
    expect(landedAt(await comeBack(browser, callbacks[0] ?? ''))).toBe('/')
    expect(landedAt(await comeBack(browser, callbacks[1] ?? ''))).toBe('/')
    expect((await me(browser)).identities.map(({ provider }) => provider)).toEqual(['github', 'google'])
  })

  it('knows no provider that the settings do not name, and is asked by GET alone', async () => {
    const { client } = await oauthWorld()
    const browser = client()
    for (const path of ['/auth/oauth/gitlab', '/auth/oauth/Google']) {
      expect((await browser.get(path)).body).toMatchObject({ code: 'not_found' })
    }
    expect((await browser.open('/auth/oauthcallback/gitlab?state=x')).status).toBe(404)
    expect((await browser.post('/auth/oauth/google')).status).toBe(405)
  })

  it('is not begun or finished by HEAD, which changes nothing anywhere', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = new URL(world.peer.answer(await goTo(browser)))
    const head = (path: string) =>
      world.auth.fetch(
        new Request(`http://localhost:3000${path}`, {
          method: 'HEAD',
          headers: { cookie: browser.cookies.header(new URL('http://localhost:3000/auth')) ?? '' },
        }),
      )
    const start = await head('/auth/oauth/google')
    expect([start.status, start.headers.getSetCookie(), start.headers.get('allow')]).toEqual([405, [], 'GET, OPTIONS'])
    expect((await head(callback.pathname + callback.search)).status).toBe(405)
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/')
  })

  it('leads back with the name of the fault when the provider cannot be asked for its addresses', async () => {
    const peer = createOAuthPeer()
    const fetch = () => Promise.reject(new TypeError('no network'))
    const runtime = createTestRuntime({ clock: peer.clock, fetch })
    const { client } = await testAuth({ ...peer.settings, redirectFailUrl: '/enter?lang=de#form' }, runtime)
    const answer = await client().get('/auth/oauth/company?redirect=/inbox')
    expect(landedAt(answer)).toBe('/enter?lang=de&error=oauth_failed&provider=company&redirect=%2Finbox#form')
  })

  it('takes a name that nobody could have here for none, and asks for no extra fields', async () => {
    const fields = z.object({ plan: z.string(), theme: z.string().default('light') })
    const told: unknown[] = []
    const beforeRegister = ({ user }: { user: { name: string | null } }) => void told.push(user.name)
    const world = await oauthWorld({ registration: { fields }, hooks: { beforeRegister } })
    const browser = world.client()
    await enterAs(world, browser, { ...adaAtGoogle, name: 'Ada\nLovelace' })
    expect(await me(browser)).toMatchObject({ name: null })
    expect(told).toEqual([null])
    expect(await me(browser)).not.toHaveProperty('theme')

    const lenient = await oauthWorld({ registration: { fields: z.object({ theme: z.string().default('light') }) } })
    const other = lenient.client()
    await enterAs(lenient, other, adaAtGoogle)
    expect(await me(other)).toMatchObject({ theme: 'light' })
  })

  it('makes no account where the application’s schema of extra fields is broken, and tells its owner', async () => {
    const logged: unknown[] = []
    const logger = { warn: () => {}, error: (fields: unknown) => logged.push(fields) }
    const list = z.object({}).transform(() => [])
    const world = await oauthWorld({ logger, registration: { fields: list } })
    const answer = await enterAs(world, world.client(), adaAtGoogle)
    expect(landedAt(answer)).toBe('/auth/login?error=internal_error&provider=google')
    expect(logged).toContainEqual(expect.objectContaining({ code: 'internal_error', cause: 'TypeError' }))
    expect(await world.auth.users.findByEmail(adaAtGoogle.email)).toBeNull()

    const throwing = z.object({}).transform(() => {
      throw new RangeError('broken')
    })
    const other = await oauthWorld({ logger, registration: { fields: throwing } })
    const led = landedAt(await enterAs(other, other.client(), adaAtGoogle))
    expect(led).toBe('/auth/login?error=internal_error&provider=google')
    expect(logged).toContainEqual(expect.objectContaining({ cause: 'RangeError' }))
    expect(await other.auth.users.findByEmail(adaAtGoogle.email)).toBeNull()
  })
})

describe('whom the application refuses', () => {
  it('a new account where registration is closed, and nobody who has one', async () => {
    const world = await oauthWorld({ registration: { enabled: false } })
    const closed = '/auth/login?error=registration_disabled&provider='
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toBe(`${closed}google`)
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle, 'company'))).toBe(`${closed}company`)
    await world.auth.users.create({ email: adaAtGoogle.email, emailVerified: true })
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toBe('/')
  })

  it('a disabled account, known or joined by its address, which changes nothing of it', async () => {
    const world = await oauthWorld()
    const { users } = world.auth
    const { id } = await users.create({ email: adaAtGoogle.email, emailVerified: true })
    await users.disable(id)
    const refused = '/auth/login?error=account_disabled&provider=google'
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toBe(refused)
    expect((await users.get(id))?.identities).toEqual([])
    await users.enable(id)
    await enterAs(world, world.client(), adaAtGoogle)
    await users.disable(id)
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toBe(refused)
    const detail = { method: 'oauth:google', reason: 'account_disabled' }
    const failure = { outcome: 'failure', userId: id, detail }
    const success = { outcome: 'success', userId: id }
    expect((await world.auth.audit.list({ event: 'login' })).items).toMatchObject([failure, success, failure])
  })

  it('by hooks, which are told how the user came; what had been begun is undone', async () => {
    const told: unknown[] = []
    let refuse = ''
    const hook = (name: string) => (input: { method: string; user: { email: string; identities: unknown[] } }) => {
      told.push([name, input.method, input.user.email, input.user.identities.length])
      if (refuse === name) throw new AuthError('forbidden')
    }
    const names = ['beforeRegister', 'afterRegister', 'beforeLogin', 'afterLogin']
    const world = await oauthWorld({ hooks: Object.fromEntries(names.map((name) => [name, hook(name)])) })
    for (const name of names.slice(0, 2)) {
      refuse = name
      const answer = await enterAs(world, world.client(), adaAtGoogle)
      expect(landedAt(answer)).toBe('/auth/login?error=forbidden&provider=google')
      expect(await world.auth.users.findByEmail(adaAtGoogle.email)).toBeNull()
    }
    for (const name of names.slice(2)) {
      refuse = name
      const browser = world.client()
      expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toContain('error=forbidden')
      expect((await browser.get('/api/notes')).status).toBe(401)
    }
    refuse = ''
    told.length = 0
    await world.auth.users.delete((await world.auth.users.findByEmail(adaAtGoogle.email))?.id ?? '')
    expect(landedAt(await enterAs(world, world.client(), adaAtGoogle))).toBe('/')
    expect(told).toEqual(names.map((name) => [name, 'oauth:google', adaAtGoogle.email, 1]))
  })

  it('a hook that breaks is told to the owner, and the browser is led on', async () => {
    const logged: unknown[] = []
    const logger = { warn: (fields: unknown) => logged.push(fields), error: () => {} }
    const beforeLogin = () => {
      throw new TypeError('broken')
    }
    const world = await oauthWorld({ logger, hooks: { beforeLogin } })
    const answer = await enterAs(world, world.client(), adaAtGoogle)
    expect(landedAt(answer)).toBe('/auth/login?error=hook_failed&provider=google')
    const requestId = answer.headers.get('x-request-id')
    expect(logged).toContainEqual(expect.objectContaining({ code: 'hook_failed', cause: 'TypeError', requestId }))
  })
})

describe('joining an account by its address', () => {
  it('links where both sides have verified it, and tells the owner', async () => {
    const world = await oauthWorld()
    const account = { ...ada, email: adaAtGoogle.email }
    const { id } = await world.auth.users.create({ ...account, emailVerified: true })
    const browser = world.client()
    await enterAs(world, browser, adaAtGoogle)
    expect(await me(browser)).toMatchObject({ identities: [{ provider: 'google' }], name: null })
    const mail = await world.mailbox.waitFor(account.email, /new way to sign in/i)
    expect(mail.text).toContain('Google')
    expect(mail.text).not.toContain('http')
    const [event] = (await world.auth.audit.list({ event: 'identity_linked' })).items
    expect(event).toMatchObject({ outcome: 'success', userId: id, detail: { provider: 'google', firstProof: false } })
    await world.client().signIn(account)
  })

  it('does not where the provider does not speak for the address, and leads through signing in', async () => {
    const world = await oauthWorld()
    const account = { ...ada, email: 'ada@company.test' }
    const { id } = await world.auth.users.create({ ...account, emailVerified: true })
    const required = (name: string) =>
      `/auth/login?error=oauth_link_required&provider=${name}&redirect=%2Fauth%2Faccount%3Flink%3D${name}`
    for (const name of ['google', 'company'] as const) {
      const answer = await enterAs(world, world.client(), { id: '7', email: account.email }, name)
      expect(landedAt(answer)).toBe(required(name))
    }
    const hosted = { id: '7', email: account.email, claims: { hd: 'company.test' } }
    expect(landedAt(await enterAs(world, world.client(), hosted))).toBe('/')
    // One login of each provider: a second one may be somebody else's who has the address now.
    expect(landedAt(await enterAs(world, world.client(), { ...hosted, id: '8' }))).toBe(required('google'))
    expect((await world.auth.users.get(id))?.identities).toHaveLength(1)
  })

  it('does not where another user may take the address back', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    const account = { ...ada, email: adaAtGoogle.email }
    await browser.signUp(account)
    await browser.post('/auth/email/change', { newEmail: 'ada@new.example.test', password: account.password })
    const token = world.mailbox.token(await world.mailbox.waitFor('ada@new.example.test'))
    await browser.post('/auth/email/confirm', { token })
    const answer = await enterAs(world, world.client(), adaAtGoogle)
    expect(landedAt(answer)).toContain('/auth/login?error=oauth_link_required&')
  })
})

describe('somebody whose address nobody speaks for', () => {
  const stranger = { id: '7', email: 'ada@company.test', name: 'Ada' }

  async function asked(query = '') {
    const world = await oauthWorld()
    const browser = world.client()
    const answer = await enterAs(world, browser, stranger, 'company', query)
    return { ...world, browser, answer }
  }

  it('is asked for it, confirms it by mail in the same browser, and has an account without password', async () => {
    const { browser, answer, mailbox, ...world } = await asked('?redirect=/inbox')
    expect(landedAt(answer)).toBe('/auth/register/identity?redirect=%2Finbox')
    expect((await browser.get('/api/notes')).status).toBe(401)
    const page = await browser.open(landedAt(answer) ?? '')
    expect(page.text).toContain('value="ada@company.test"')
    expect(page.text).toContain('Company')
    expect(page.text).toContain('name="_redirect" value="/inbox"')

    const next = await browser.submit('/auth/register/identity', { email: 'Ada@Company.test', _redirect: '/inbox' })
    expect(next.url.pathname + next.url.search).toBe('/auth/verify-email?redirect=%2Finbox')
    const mail = await mailbox.waitFor('ada@company.test')
    const elsewhere = await world
      .client()
      .post('/auth/verify-email', { token: mailbox.token(mail), password: 'a guess 1' })
    expect(elsewhere.body).toMatchObject({ code: 'invalid_token' })
    const confirmed = await browser.post<SignedIn>('/auth/verify-email', {
      email: 'ada@company.test',
      code: mailbox.code(mail),
    })
    expect(confirmed).toMatchObject({ status: 200, body: { user: { email: 'Ada@Company.test', name: 'Ada' } } })
    expect(confirmed.body.user.identities).toMatchObject([{ provider: 'company' }])
    expect((await browser.get('/api/notes')).body).toMatchObject({ principal: { amr: ['fed'], emailVerified: true } })
    expect(landedAt(await enterAs({ peer: world.peer }, world.client(), stranger, 'company'))).toBe('/')
  })

  it('hears the same whether or not the address has an account; its owner gets a mail', async () => {
    const { browser, mailbox, auth } = await asked()
    await auth.users.create({ ...ada, emailVerified: true })
    const free = await browser.post('/auth/register/identity', { email: 'free@example.test' })
    const taken = await browser.post('/auth/register/identity', { email: ada.email })
    expect([taken.status, taken.body]).toEqual([free.status, free.body])
    expect(taken).toMatchObject({ status: 202, body: { status: 'verification_sent' } })
    expect(taken.cookies.map(({ name }) => name)).toEqual(['registration'])
    await mailbox.waitFor(ada.email, /already have an account/)
    expect((await auth.users.findByEmail(ada.email))?.identities).toEqual([])
  })

  it('cannot be let in by a password, also while it waits', async () => {
    const { browser, client } = await asked()
    await browser.post('/auth/register/identity', { email: stranger.email })
    for (const password of ['null', 'a guess 1', 'undefined']) {
      const answer = await client().post('/auth/login', { email: stranger.email, password })
      expect(answer.body).toMatchObject({ code: 'invalid_credentials' })
    }
  })

  it('has fifteen minutes, and only in that browser', async () => {
    const { browser, client, runtime } = await asked()
    const elsewhere = client()
    for (const prepare of [async () => {}, () => goTo(elsewhere)]) {
      await prepare()
      const refused = await elsewhere.post('/auth/register/identity', { email: stranger.email })
      expect(refused.body).toMatchObject({ code: 'invalid_token' })
    }
    await runtime.clock.advance('14m')
    expect((await browser.post('/auth/register/identity', { email: stranger.email })).status).toBe(202)
    await runtime.clock.advance('1m')
    const late = await browser.submit('/auth/register/identity', { email: stranger.email })
    expect(late.url.pathname + late.url.search).toBe('/auth/register/identity?error=invalid_token')
    expect(late.text).not.toContain('<form')
  })

  it('of two that confirm with one login, one gets the account', async () => {
    const { browser, mailbox, auth } = await asked()
    const tokens: string[] = []
    for (const email of ['one@example.test', 'two@example.test']) {
      await browser.post('/auth/register/identity', { email })
      const page = browser.copy()
      const token = mailbox.token(await mailbox.waitFor(email))
      tokens.push(String((await page.post('/auth/verify-email', { token })).status))
    }
    expect(tokens).toEqual(['200', '400'])
    expect(await auth.users.findByEmail('two@example.test')).toBeNull()
  })

  it('without any address is asked for one', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    const answer = await enterAs(world, browser, { id: '9' }, 'github')
    expect(landedAt(answer)).toBe('/auth/register/identity')
    expect((await browser.open('/auth/register/identity')).text).toContain('required value=""')
  })
})

describe('an answer that is posted', () => {
  it('is taken on to the same address by a navigation of our own, and uses nothing up by itself', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    world.peer.signInAs(adaAtGoogle)
    const callback = new URL(world.peer.answer(await goTo(browser, 'google', '?redirect=/inbox')))
    const fields = new URLSearchParams({ ...Object.fromEntries(callback.searchParams), user: '{"name":"x"}' })
    const headers = {
      origin: 'https://appleid.apple.com',
      'sec-fetch-site': 'cross-site',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const post = (body: string, path = callback.pathname) =>
      world.auth.fetch(new Request(`http://localhost:3000${path}`, { method: 'POST', headers, body }))
    const answer = await post(String(fields))
    expect(answer.status).toBe(303)
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(tokenRequests(world)).toBe(0)
    const onward = new URL(answer.headers.get('location') ?? '', callback)
    expect([...onward.searchParams.keys()].sort()).toEqual(['code', 'iss', 'state'])
    expect(landedAt(await comeBack(browser, onward.href))).toBe('/inbox')

    // Nothing else may be posted from there.
    expect((await post(String(fields), '/auth/logout')).status).toBe(403)
    expect((await post(String(new URLSearchParams({ _method: 'DELETE' })))).status).toBe(405)
  })
})
