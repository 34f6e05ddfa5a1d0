import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { safeRedirect } from '../../src/lib/url.js'
import type { SignedIn, TestClient } from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { ipOf } from '../support/limits.js'
import { meddledDatabase } from '../support/meddled-database.js'
import {
  adaAtGoogle,
  comeBack,
  enterAs,
  goTo,
  landedAt,
  type OAuthWorld,
  oauthWorld,
  type ProviderName,
  tokenRequests,
} from '../support/oauth.js'
import { enrol, firstStep } from '../support/totp.js'

const refusedState = (name: ProviderName = 'google') => `/auth/login?error=oauth_state&provider=${name}`

/** A browser whose way back lies open. */
async function underWay(name: ProviderName = 'google', query = '') {
  const world = await oauthWorld()
  const browser = world.client()
  world.peer.signInAs(adaAtGoogle)
  const callback = new URL(world.peer.answer(await goTo(browser, name, query)))
  return { ...world, browser, callback }
}

function changed(callback: URL, parameters: Readonly<Record<string, string | null>>, name?: ProviderName): string {
  const url = new URL(callback)
  if (name) url.pathname = `/auth/oauthcallback/${name}`
  for (const [key, value] of Object.entries(parameters)) {
    if (value === null) url.searchParams.delete(key)
    else url.searchParams.set(key, value)
  }
  return url.href
}

async function sessionsOf({ auth }: OAuthWorld, email = adaAtGoogle.email): Promise<number> {
  const user = await auth.users.findByEmail(email)
  return user ? (await auth.sessions.list(user.id)).items.length : 0
}

describe('the state', () => {
  test.each([
    ['none', (url: URL) => changed(url, { state: null })],
    ['an empty one', (url: URL) => changed(url, { state: '' })],
    ['a wrong one', (url: URL) => changed(url, { state: 'x'.repeat(43) })],
    ['one of another spelling', (url: URL) => changed(url, { state: `${url.searchParams.get('state')}=` })],
    ['a list', (url: URL) => `${changed(url, { state: null })}&state[]=${url.searchParams.get('state')}`],
    ['1 MB', (url: URL) => changed(url, { state: 'x'.repeat(1_048_576) })],
  ])('ATK-084 %s is refused before the provider is asked, and uses nothing up', async (_, spoil) => {
    const { browser, callback, ...world } = await underWay()
    expect(landedAt(await comeBack(browser, spoil(callback)))).toBe(refusedState())
    expect(tokenRequests(world)).toBe(0)
    expect((await browser.get('/api/notes')).status).toBe(401)
    const [event] = (await world.auth.audit.list({ event: 'login' })).items
    expect(event).toMatchObject({ outcome: 'failure', detail: { method: 'oauth:google', reason: 'oauth_state' } })
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/')
  })

  test('ATK-084 of another browser is refused, whether that has been at a provider or not', async () => {
    const { browser, callback, ...world } = await underWay()
    const other = world.client()
    expect(landedAt(await comeBack(other, callback.href))).toBe(refusedState())
    await goTo(other)
    expect(landedAt(await comeBack(other, callback.href))).toBe(refusedState())
    expect(tokenRequests(world)).toBe(0)
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/')
    // Used up, it is still nobody else's.
    expect(landedAt(await comeBack(other, callback.href))).toBe(refusedState())
    expect(await sessionsOf(world)).toBe(1)
  })

  test('ATK-084 lives ten minutes', async () => {
    const { browser, callback, peer, ...world } = await underWay()
    const late = peer.answer(await goTo(browser))
    await world.runtime.clock.advance('599s')
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/')
    await world.runtime.clock.advance('1s')
    expect(landedAt(await comeBack(browser, late))).toBe(refusedState())
    expect(tokenRequests({ peer })).toBe(1)
  })

  test('ATK-084 is one of five that a browser has at most, the oldest goes', async () => {
    const { browser, callback, ...world } = await underWay()
    for (let tab = 0; tab < 4; tab += 1) await goTo(browser)
    await goTo(world.client())
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/')
    const again = world.peer.answer(await goTo(browser))
    for (let tab = 0; tab < 5; tab += 1) await goTo(browser)
    expect(landedAt(await comeBack(browser, again))).toBe(refusedState())
  })

  test.each([
    ['short', 'x'],
    ['with more before it', `${'x'.repeat(43)}x`],
    ['of other characters before it', `~${'x'.repeat(43)}`],
    ['of other characters behind it', `${'x'.repeat(43)}~`],
  ])(
    'ATK-084 a handle %s that somebody planted in the browser is none of ours, and is replaced',
    async (_, plantedHandle) => {
      const { browser, ...world } = await underWay()
      const held = browser.cookies.all().find(({ name }) => name === 'oauth')
      if (!held) throw new Error('the browser holds no handle')
      browser.cookies.put({ ...held, value: plantedHandle })
      world.peer.signInAs(adaAtGoogle)
      const callback = world.peer.answer(await goTo(browser))
      expect(browser.cookies.get('oauth')).toMatch(/^[\w-]{43}$/)
      expect(browser.cookies.get('oauth')).not.toBe(plantedHandle.slice(0, 43))
      const attacker = world.client()
      attacker.cookies.put({ ...held, value: plantedHandle })
      expect(landedAt(await comeBack(attacker, callback))).toBe(refusedState())
      expect(landedAt(await comeBack(browser, callback))).toBe('/')
    },
  )

  test('ATK-088 a callback that comes again lands where the first one did, asks nobody and signs nobody in', async () => {
    const { browser, callback, ...world } = await underWay('google', '?redirect=/inbox')
    expect(landedAt(await comeBack(browser, callback.href))).toBe('/inbox')
    for (const url of [callback.href, changed(callback, { code: 'another' }), changed(callback, { error: 'x' })]) {
      const again = await comeBack(browser, url)
      expect(landedAt(again)).toBe('/inbox')
      expect(again.cookies).toEqual([])
    }
    expect([tokenRequests(world), await sessionsOf(world)]).toEqual([1, 1])
    await world.runtime.clock.advance('10m')
    expect(landedAt(await comeBack(browser, callback.href))).toBe(refusedState())
  })

  test('ATK-088 of 20 callbacks at once one signs in, and all land there', async () => {
    const { browser, callback, ...world } = await underWay('google', '?redirect=/inbox')
    const twins = Array.from({ length: 20 }, () => browser.copy())
    const answers = await Promise.all(twins.map((twin) => comeBack(twin, callback.href)))
    expect(answers.map(landedAt)).toEqual(answers.map(() => '/inbox'))
    expect(answers.filter(({ cookies }) => cookies.length > 0)).toHaveLength(1)
    expect([tokenRequests(world), await sessionsOf(world)]).toEqual([1, 1])
  })

  test('ATK-088 of many tabs in which somebody new comes at once, all end in one account', async () => {
    const world = await oauthWorld()
    world.peer.signInAs(adaAtGoogle)
    const browsers = Array.from({ length: 8 }, () => world.client())
    const callbacks = await Promise.all(browsers.map(async (browser) => world.peer.answer(await goTo(browser))))
    const answers = await Promise.all(callbacks.map((url, index) => comeBack(browsers[index] ?? world.client(), url)))
    expect(answers.map(landedAt)).toEqual(answers.map(() => '/'))
    expect((await world.auth.users.list()).items).toHaveLength(1)
    expect(await sessionsOf(world)).toBe(8)
  })

  test('ATK-090 of one provider is worth nothing at another’s callback, and is used up by that', async () => {
    for (const [from, to] of [
      ['google', 'github'],
      ['github', 'google'],
      ['company', 'google'],
    ] as const) {
      const { browser, callback, ...world } = await underWay(from)
      expect(landedAt(await comeBack(browser, changed(callback, {}, to)))).toBe(refusedState(to))
      expect(tokenRequests(world)).toBe(0)
      expect(landedAt(await comeBack(browser, callback.href))).toBe(refusedState(from))
      expect(tokenRequests(world)).toBe(0)
    }
  })

  test('ATK-090 an answer that names another issuer is refused before it is asked', async () => {
    const { browser, callback, ...world } = await underWay('company')
    const foreign = changed(callback, { iss: 'https://evil.test' })
    expect(landedAt(await comeBack(browser, foreign))).toBe('/auth/login?error=oauth_failed&provider=company')
    expect(tokenRequests(world)).toBe(0)
  })
})

describe('what leaves us', () => {
  test.each(['google', 'github', 'company'] as const)(
    'ATK-089 for %s: a challenge, a state and a nonce of its own each time, and never the verifier',
    async (name) => {
      const world = await oauthWorld()
      const browser = world.client()
      const seen = new Set<string>()
      for (let time = 0; time < 5; time += 1) {
        const url = new URL(await goTo(browser, name))
        expect(url.searchParams.get('code_challenge_method')).toBe('S256')
        const parts = ['state', 'code_challenge', 'nonce'].map((part) => url.searchParams.get(part))
        for (const part of parts.filter((given) => given !== null)) {
          expect(part).toMatch(/^[\w-]{43}$/)
          seen.add(part)
        }
      }
      expect(seen.size).toBe(name === 'github' ? 10 : 15)

      await enterAs(world, browser, adaAtGoogle, name)
      const [trade] = world.peer.requests.filter(({ method }) => method === 'POST')
      expect(trade?.form.code_verifier).toMatch(/^[\w-]{43}$/)
      const addresses = [trade?.url, ...world.peer.requests.map(({ url }) => url), ...seen]
      expect(addresses.join()).not.toContain(trade?.form.code_verifier)
    },
  )

  test('ATK-096 the address to come back to is that of the settings, whatever the Host header says', async () => {
    const { auth, peer } = await oauthWorld()
    const answer = await auth.fetch(
      new Request('http://evil.test/auth/oauth/google', {
        headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test', forwarded: 'host=evil.test' },
      }),
    )
    const url = new URL(answer.headers.get('location') ?? '')
    expect(url.searchParams.get('redirect_uri')).toBe(peer.settings.google?.REDIRECT_URI)
    expect(url.searchParams.get('scope')?.split(' ').sort()).toEqual(['email', 'openid', 'profile'])
    expect(url.href).not.toContain('evil')
  })
})

describe('whose account it is', () => {
  const victim = { ...ada, email: adaAtGoogle.email }

  test('ATK-085 what an attacker planted in an account of the victim’s address is gone when the victim comes', async () => {
    const world = await oauthWorld({ registration: { emailVerification: 'optional' } })
    const attacker = world.client()
    await attacker.post('/auth/register', { ...victim, name: 'Mallory' })
    await enrol(attacker, victim.password, world.runtime.clock)
    const begun = await attacker.post<{ url: string }>('/auth/oauth/github/link', {})
    world.peer.signInAs({ id: '666', email: 'mallory@evil.test' })
    expect(landedAt(await comeBack(attacker, world.peer.answer(begun.body.url)))).toContain('done=')
    const plantedAccount = await world.auth.users.findByEmail(victim.email)

    const browser = world.client()
    expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toBe('/')
    const { user } = (await browser.get<SignedIn>('/auth/me')).body
    expect(user).toMatchObject({ id: plantedAccount?.id, emailVerified: true, name: null, twoFactor: false })
    expect(user.identities).toMatchObject([{ provider: 'google' }])
    const [event] = (await world.auth.audit.list({ event: 'identity_linked' })).items
    expect(event).toMatchObject({
      outcome: 'success',
      userId: plantedAccount?.id,
      detail: { provider: 'google', firstProof: true },
    })
    expect((await attacker.get('/api/notes')).status).toBe(401)
    expect((await attacker.refresh()).status).toBe(401)
    expect((await world.client().post('/auth/login', victim)).body).toMatchObject({ code: 'invalid_credentials' })
    const again = world.client()
    await enterAs(world, again, { id: '666', email: 'mallory@evil.test' }, 'github')
    expect((await again.get<SignedIn>('/auth/me')).body.user.id).not.toBe(user.id)
  })

  test('ATK-050 a login that joins a verified account gives no new guesses at its second factor', async () => {
    const world = await oauthWorld({ limits: {} })
    const { auth, runtime } = world
    await auth.users.create({ ...victim, emailVerified: true })
    const owner = world.client()
    await owner.signIn(victim)
    const factor = await enrol(owner, victim.password, runtime.clock)
    for (let tried = 0; tried < 20; tried += 1) {
      const attacker = world.client({ ip: ipOf(tried) })
      const challenge = await firstStep(attacker, victim)
      const guessed = await attacker.post('/auth/login/two-factor', { challenge, code: factor.wrongCode() })
      expect(guessed.body).toMatchObject({ code: 'invalid_code' })
    }
    const browser = world.client({ ip: ipOf(100) })
    expect(landedAt(await enterAs(world, browser, adaAtGoogle))).toBe('/auth/two-factor')
    const code = await factor.nextCode()
    expect((await browser.post('/auth/login/two-factor', { code })).body).toMatchObject({ code: 'rate_limited' })
  })

  test('ATK-085 a registration that an attacker left waiting is gone when the victim has an account', async () => {
    const world = await oauthWorld()
    const attacker = world.client()
    await attacker.post('/auth/register', victim)
    const token = world.mailbox.token(await world.mailbox.waitFor(victim.email))
    await enterAs(world, world.client(), adaAtGoogle)
    const confirmed = await attacker.post('/auth/verify-email', { token })
    expect(confirmed.body).toMatchObject({ code: 'invalid_token' })
    expect((await attacker.post('/auth/login', victim)).body).toMatchObject({ code: 'invalid_credentials' })
  })

  test.each(['google', 'github', 'company'] as const)(
    'ATK-086 an address that %s has not confirmed neither links nor makes an account',
    async (name) => {
      const world = await oauthWorld()
      const refused = `/auth/login?error=oauth_email_unverified&provider=${name}`
      const account = { ...adaAtGoogle, emailVerified: false }
      expect(landedAt(await enterAs(world, world.client(), account, name))).toBe(refused)
      expect(await world.auth.users.findByEmail(account.email)).toBeNull()
      await world.auth.users.create({ ...victim, emailVerified: true })
      expect(landedAt(await enterAs(world, world.client(), account, name))).toBe(refused)
      expect((await world.auth.users.findByEmail(account.email))?.identities).toEqual([])
    },
  )

  test('ATK-086 a text that says true is no confirmation: the address is asked for, and its owner decides', async () => {
    const world = await oauthWorld()
    const account = { ...adaAtGoogle, claims: { email_verified: 'true' } }
    expect(landedAt(await enterAs(world, world.client(), account))).toBe('/auth/register/identity')
    await world.auth.users.create({ ...victim, emailVerified: true })
    expect(landedAt(await enterAs(world, world.client(), account))).toContain('error=oauth_link_required')
    expect((await world.auth.users.findByEmail(account.email))?.identities).toEqual([])
  })

  test('ATK-087 the provider’s id decides: another address there is still this account, and nobody else’s', async () => {
    const world = await oauthWorld()
    const idOf = async (account: { id: string; email: string }, name: ProviderName = 'google') => {
      const browser = world.client()
      await enterAs(world, browser, account, name)
      return (await browser.get<SignedIn>('/auth/me')).body.user
    }
    const first = await idOf(adaAtGoogle)
    const grace = await idOf({ id: '43', email: 'grace@gmail.com' })
    const moved = await idOf({ id: '42', email: 'grace@gmail.com' })
    expect(moved).toMatchObject({ id: first.id, email: adaAtGoogle.email })
    expect(grace.id).not.toBe(first.id)
    // The same number at another provider is somebody else, until an address joins them.
    const elsewhere = await idOf({ id: '42', email: 'other@gmail.com' }, 'github')
    expect([first.id, grace.id]).not.toContain(elsewhere.id)
    expect((await idOf({ id: '44', email: adaAtGoogle.email }, 'github')).id).toBe(first.id)
  })
})

describe('an answer that is an error', () => {
  const script = '<script>alert(1)</script>'

  test.each([
    ['access_denied', 'oauth_denied'],
    ['server_error', 'oauth_failed'],
    ['temporarily_unavailable', 'oauth_failed'],
    [script, 'oauth_failed'],
    ['x'.repeat(10_000), 'oauth_failed'],
    ['', 'oauth_failed'],
  ])('ATK-092 %s decides, also beside a code, shows nothing of itself, and uses the state up', async (error, code) => {
    const { browser, callback, ...world } = await underWay('google', '?redirect=/inbox')
    const refused = changed(callback, { error, error_description: script })
    const landing = `/auth/login?error=${code}&provider=google&redirect=%2Finbox`
    expect(landedAt(await comeBack(browser, refused))).toBe(landing)
    expect(landedAt(await comeBack(browser, callback.href))).toBe(landing)
    expect(tokenRequests(world)).toBe(0)
  })

  test('ATK-092 an error without a state, and neither error nor code', async () => {
    const { browser, callback, ...world } = await underWay()
    const stateless = changed(callback, { error: 'access_denied', state: null, code: null })
    expect(landedAt(await comeBack(browser, stateless))).toBe(refusedState())
    const bare = changed(callback, { code: null })
    expect(landedAt(await comeBack(browser, bare))).toBe('/auth/login?error=oauth_failed&provider=google')
    expect(tokenRequests(world)).toBe(0)
  })
})

describe('where it leads', () => {
  test('ATK-092 a mistake of our own or of the settings leads back as well, and says no more than that', async () => {
    const fields = z.unknown().transform(() => {
      throw new TypeError('secret-cause')
    })
    const world = await oauthWorld({ registration: { fields } })
    const landed = landedAt(await enterAs(world, world.client(), adaAtGoogle))
    expect(landed).toBe('/auth/login?error=internal_error&provider=google')
    const page = await world.client().get<string>(landed ?? '')
    expect([page.status, page.text.includes('secret-cause')]).toEqual([200, false])
  })

  const file = new URL('../vectors/open-redirects.json', import.meta.url)
  const { payloads }: { payloads: { payload: string }[] } = JSON.parse(readFileSync(file, 'utf8'))

  test('ATK-094 every payload of the list in redirect, next and returnTo: nowhere but where the rule allows', async () => {
    const world = await oauthWorld({ redirectSuccessUrl: '/home' })
    const browser = world.client()
    expect(payloads.length).toBeGreaterThan(100)
    for (const { payload } of payloads) {
      const query = new URLSearchParams({ redirect: payload, next: payload, returnTo: payload, state: payload })
      const answer = await enterAs(world, browser, adaAtGoogle, 'google', `?${query}`)
      const allowed = safeRedirect(payload, 'http://localhost:3000', [])
      expect(landedAt(answer), payload).toBe(allowed ?? '/home')
    }
  })

  test.each([
    [
      'swapped for that of another',
      "(select payload from latchkey_one_time_tokens where purpose = 'oauth_state' order by ordinal limit 1)",
    ],
    ['cut', "'x.y'"],
    ['emptied', 'null'],
  ])('ATK-094 what is kept of it, %s in the database, leads nowhere', async (_, payload) => {
    const database = meddledDatabase()
    const world = await oauthWorld({ database: database.dialect })
    const write = `update latchkey_one_time_tokens set payload = ${payload} where purpose = `
    const insertion = /^insert into "latchkey_one_time_tokens"/
    world.peer.signInAs(adaAtGoogle)
    await goTo(world.client(), 'google', '?redirect=/elsewhere')
    const browser = world.client()
    database.after(insertion, `${write}'oauth_state'`)
    const callback = world.peer.answer(await goTo(browser))
    for (const _again of [1, 2]) expect(landedAt(await comeBack(browser, callback))).toBe(refusedState())
    expect(tokenRequests(world)).toBe(0)
  })

  test('ATK-094 nothing at the callback moves the landing, and what is kept of it is sealed', async () => {
    const { browser, callback } = await underWay('google', '?redirect=/inbox')
    const spoiled = changed(callback, { redirect: 'https://evil.test', next: '//evil.test', landing: '/evil' })
    expect(landedAt(await comeBack(browser, spoiled))).toBe('/inbox')
  })
})

describe('linking', () => {
  async function begun(browser: TestClient, peer: OAuthWorld['peer'], id = '42'): Promise<string> {
    const { body } = await browser.post<{ url: string }>('/auth/oauth/google/link', {})
    peer.signInAs({ id, email: `person${id}@gmail.com` })
    return peer.answer(body.url)
  }

  async function pair() {
    const world = await oauthWorld()
    const [mallory, victim] = [world.client(), world.client()]
    await mallory.signUp({ ...ada, email: 'mallory@example.test' })
    await victim.signUp(ada)
    const linked = async (email: string) => (await world.auth.users.findByEmail(email))?.identities
    return { ...world, mallory, victim, linked }
  }

  test('ATK-095 a link that an attacker began is not finished by the victim’s browser', async () => {
    const { mallory, victim, linked, ...world } = await pair()
    const callback = await begun(mallory, world.peer)
    await goTo(victim)
    expect(landedAt(await comeBack(victim, callback))).toBe(refusedState())
    expect(tokenRequests(world)).toBe(0)
    expect([await linked(ada.email), await linked('mallory@example.test')]).toEqual([[], []])
  })

  test('ATK-095 a callback with the attacker’s code signs nobody in as the attacker', async () => {
    const { mallory, victim, ...world } = await pair()
    world.peer.signInAs({ id: '666', email: 'mallory@gmail.com' })
    const callback = world.peer.answer(await goTo(mallory))
    expect(landedAt(await comeBack(victim, callback))).toBe(refusedState())
    expect((await victim.get<SignedIn>('/auth/me')).body.user.email).toBe(ada.email)
  })

  test.each([
    ['signed out', async (browser: TestClient) => void (await browser.signOut())],
    [
      'signed in as somebody else',
      async (browser: TestClient) => void (await browser.signIn({ ...ada, email: 'mallory@example.test' })),
    ],
    ['signed in anew', async (browser: TestClient) => void (await browser.signIn(ada))],
    [
      'under a new session',
      async (browser: TestClient) =>
        void (await browser.post('/auth/password/change', {
          currentPassword: ada.password,
          newPassword: 'analytical engine 1843',
        })),
    ],
  ])('ATK-095 in a browser that is %s meanwhile, nothing is linked', async (_, meanwhile) => {
    const { victim, linked, ...world } = await pair()
    const callback = await begun(victim, world.peer)
    await meanwhile(victim)
    expect(landedAt(await comeBack(victim, callback))).toBe(refusedState())
    expect(tokenRequests(world)).toBe(0)
    expect([await linked(ada.email), await linked('mallory@example.test')]).toEqual([[], []])
  })

  test.each(['access-token', 'refresh-token'])(
    'ATK-095 in a browser whose %s is another’s, or nobody’s, nothing is linked: both must be of the session that asked',
    async (name) => {
      const { mallory, victim, linked, ...world } = await pair()
      const foreignCookie = mallory.cookies.all().find((cookie) => cookie.name === name)
      if (!foreignCookie) throw new Error(`the browser holds no ${name}`)
      for (const value of [foreignCookie.value, 'nonsense']) {
        const callback = await begun(victim, world.peer)
        const browser = victim.copy()
        browser.cookies.put({ ...foreignCookie, value })
        expect(landedAt(await comeBack(browser, callback))).toBe(refusedState())
      }
      expect(tokenRequests(world)).toBe(0)
      expect([await linked(ada.email), await linked('mallory@example.test')]).toEqual([[], []])
    },
  )

  test('ATK-095 a session that was ended from elsewhere links nothing, though its browser still has its cookies', async () => {
    const { victim, linked, auth, peer } = await pair()
    const callback = await begun(victim, peer)
    const { id } = (await victim.get<SignedIn>('/auth/me')).body.session
    await auth.sessions.revoke(id)
    expect(landedAt(await comeBack(victim, callback))).toBe(refusedState())
    expect(await linked(ada.email)).toEqual([])
  })

  test('ATK-095 a link is no sign-in, and a sign-in no link', async () => {
    const { victim, linked, ...world } = await pair()
    const before = (await victim.get<SignedIn>('/auth/me')).body.session.id
    await comeBack(victim, await begun(victim, world.peer))
    expect((await victim.get<SignedIn>('/auth/me')).body.session.id).toBe(before)
    expect(await linked(ada.email)).toHaveLength(1)
    await enterAs(world, victim, { id: '77', email: 'other@gmail.com' })
    expect((await victim.get<SignedIn>('/auth/me')).body.user.email).toBe('other@gmail.com')
    expect(await linked(ada.email)).toHaveLength(1)
  })
})
