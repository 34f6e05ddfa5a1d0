import { describe, expect, test } from 'vitest'
import type { Actor, AuditEntry } from '../../src/index.js'
import { routes } from '../../src/routes/index.js'
import type { SignedIn, TestClient } from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { createAuthenticator } from '../support/authenticator.js'
import { adaAtGoogle, comeBack, enterAs, type OAuthWorld, oauthWorld } from '../support/oauth.js'
import { addPasskey, origin, requestOptions } from '../support/passkey-browser.js'
import { enrol, type Factor, totpCode } from '../support/totp.js'

const newPassword = 'analytical engine 1843'
const newEmail = 'ada@new.example.test'

interface World extends OAuthWorld {
  browser: TestClient
}

async function signedUp(...[overrides]: Parameters<typeof oauthWorld>): Promise<World> {
  const world = await oauthWorld(overrides)
  const browser = world.client()
  await browser.signUp(ada)
  return { ...world, browser }
}

async function sessionOf(browser: TestClient): Promise<Extract<Actor, { kind: 'user' }>> {
  const { user, session } = (await browser.get<SignedIn>('/auth/me')).body
  return { kind: 'user', userId: user.id, sessionId: session.id, impersonating: null }
}

/** What the log got while that ran, oldest first. */
async function eventsOf({ auth }: Pick<World, 'auth'>, run: () => Promise<unknown>): Promise<AuditEntry[]> {
  const [last] = (await auth.audit.list({ limit: 1 })).items
  await run()
  const { items } = await auth.audit.list({ limit: 200 })
  const before = items.findIndex(({ id }) => id === last?.id)
  return (before === -1 ? items : items.slice(0, before)).toReversed()
}

const named = (events: readonly AuditEntry[]) => events.map(({ event, outcome }) => `${event} ${outcome}`)

interface Case {
  route: string
  /** What must be so before. */
  given?(world: World): Promise<unknown>
  run(browser: TestClient, world: World): Promise<unknown>
  events: readonly string[]
}

const password = 'not the right one'

async function linkGoogle({ peer }: World, browser: TestClient): Promise<void> {
  const { body } = await browser.post<{ url: string }>('/auth/oauth/google/link', {})
  peer.signInAs(adaAtGoogle)
  await comeBack(browser, peer.answer(body.url))
}

async function confirmTotp(browser: TestClient, { runtime }: World): Promise<unknown> {
  const { body } = await browser.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
  await browser.post('/auth/two-factor/totp/confirm', { code: '000000' })
  return browser.post('/auth/two-factor/totp/confirm', { code: totpCode(body.secret, runtime.clock.now()) })
}

let factor: Factor
let passkeyId = ''

const newDevice = () => createAuthenticator({ origin })

async function keepPasskey({ browser }: World): Promise<void> {
  passkeyId = (await addPasskey(browser, newDevice())).body.passkey.id
}

const cases: readonly Case[] = [
  {
    route: 'PATCH /me',
    run: (browser) => browser.patch('/auth/me', { name: 'Ada' }),
    events: ['profile_changed success'],
  },
  {
    route: 'DELETE /me',
    async run(browser) {
      await browser.delete('/auth/me', { password })
      await browser.delete('/auth/me', { password: ada.password })
    },
    events: ['account_deleted failure', 'account_deleted success'],
  },
  {
    route: 'POST /email/change',
    async run(browser) {
      await browser.post('/auth/email/change', { newEmail, password })
      await browser.post('/auth/email/change', { newEmail, password: ada.password })
    },
    events: ['email_change_requested failure', 'email_change_requested success'],
  },
  {
    route: 'POST /password/change',
    async run(browser) {
      await browser.post('/auth/password/change', { currentPassword: password, newPassword })
      await browser.post('/auth/password/change', { currentPassword: ada.password, newPassword })
    },
    events: ['password_changed failure', 'password_changed success'],
  },
  {
    route: 'DELETE /sessions/:id',
    async run(browser, { client }) {
      const { session } = (await client().signIn(ada)).body
      await browser.delete(`/auth/sessions/${session.id}`)
    },
    events: ['login success', 'session_revoked success'],
  },
  {
    route: 'DELETE /sessions',
    given: ({ client }) => client().signIn(ada),
    run: (browser) => browser.delete('/auth/sessions'),
    events: ['sessions_revoked success'],
  },
  {
    route: 'POST /two-factor/totp',
    run: (browser) => browser.post('/auth/two-factor/totp', { password }),
    events: ['two_factor_enabled failure'],
  },
  {
    route: 'POST /two-factor/totp/confirm',
    run: confirmTotp,
    events: ['two_factor_enabled failure', 'two_factor_enabled success'],
  },
  {
    route: 'POST /two-factor/backup-codes',
    async given({ browser, runtime }) {
      factor = await enrol(browser, ada.password, runtime.clock)
    },
    async run(browser) {
      const proof = { password: ada.password, code: factor.wrongCode() }
      await browser.post('/auth/two-factor/backup-codes', proof)
      await browser.post('/auth/two-factor/backup-codes', { ...proof, code: factor.backupCodes[0] })
    },
    events: ['backup_codes_replaced failure', 'backup_codes_replaced success'],
  },
  {
    route: 'DELETE /two-factor',
    async given({ browser, runtime }) {
      factor = await enrol(browser, ada.password, runtime.clock)
    },
    async run(browser) {
      const proof = { password: ada.password, code: factor.wrongCode() }
      await browser.delete('/auth/two-factor', proof)
      await browser.delete('/auth/two-factor', { ...proof, code: factor.backupCodes[0] })
    },
    events: ['two_factor_disabled failure', 'two_factor_disabled success'],
  },
  {
    route: 'POST /oauth/:provider/link',
    async run(browser, world) {
      await browser.post('/auth/oauth/google/link', { password })
      await linkGoogle(world, browser)
    },
    events: ['identity_linked failure', 'identity_linked success'],
  },
  {
    route: 'DELETE /identities/:provider',
    given: (world) => linkGoogle(world, world.browser),
    async run(browser) {
      await browser.delete('/auth/identities/google', { password })
      await browser.delete('/auth/identities/google', { password: ada.password })
    },
    events: ['identity_unlinked failure', 'identity_unlinked success'],
  },
  {
    route: 'POST /passkeys/options',
    run: (browser) => browser.post('/auth/passkeys/options', { password }),
    events: ['passkey_added failure'],
  },
  {
    route: 'POST /passkeys',
    run: (browser) => addPasskey(browser, newDevice()),
    events: ['passkey_added success'],
  },
  {
    route: 'PATCH /passkeys/:id',
    given: keepPasskey,
    run: (browser) => browser.patch(`/auth/passkeys/${passkeyId}`, { name: 'Phone' }),
    events: ['passkey_renamed success'],
  },
  {
    route: 'DELETE /passkeys/:id',
    given: keepPasskey,
    async run(browser) {
      await browser.delete(`/auth/passkeys/${passkeyId}`, { password })
      await browser.delete(`/auth/passkeys/${passkeyId}`, { password: ada.password })
    },
    events: ['passkey_removed failure', 'passkey_removed success'],
  },
  {
    route: 'POST /reauthenticate/options',
    given: ({ browser }) => addPasskey(browser, newDevice()),
    run: (browser) => requestOptions(browser, '/auth/reauthenticate/options'),
    events: [],
  },
  {
    route: 'POST /reauthenticate',
    async run(browser) {
      await browser.post('/auth/reauthenticate', { password })
      await browser.post('/auth/reauthenticate', { password: ada.password })
    },
    events: ['reauthenticated failure', 'reauthenticated success'],
  },
]

describe('what a signed-in user does carries that user and session', () => {
  test('and every route for which one must be signed in is tried here', () => {
    // The matrix of the control API counts the events of its routes.
    const changing = routes.filter(({ signedIn, method, control }) => signedIn && method !== 'GET' && !control)
    const names = changing.map(({ method, path }) => `${method} ${path}`)
    expect(cases.map(({ route }) => route).toSorted()).toEqual(names.toSorted())
  })

  test.each(cases)('at $route', async ({ given, run, events }) => {
    const world = await signedUp()
    await given?.(world)
    const actor = await sessionOf(world.browser)
    const found = await eventsOf(world, () => run(world.browser, world))
    expect(named(found)).toEqual(events)
    // The sign-in that one case needs names its own session.
    const own = found.filter(({ event }) => event !== 'login')
    expect(own.map((entry) => entry.actor)).toEqual(own.map(() => actor))
  })

  test('also where the route works without a session', async () => {
    const world = await signedUp()
    const { browser, client, mailbox } = world
    await browser.post('/auth/email/change', { newEmail, password: ada.password })
    const token = mailbox.token(await mailbox.waitFor(newEmail))
    const actor = await sessionOf(browser)
    expect(await eventsOf(world, () => browser.post('/auth/email/confirm', { token }))).toMatchObject([
      { event: 'email_changed', actor, userId: actor.userId },
    ])

    const again = 'ada@newer.example.test'
    await browser.post('/auth/email/change', { newEmail: again, password: ada.password })
    const next = mailbox.token(await mailbox.waitFor(again))
    const elsewhere = await eventsOf(world, () => client().post('/auth/email/confirm', { token: next }))
    expect(elsewhere).toMatchObject([{ event: 'email_changed', actor: null, userId: actor.userId }])
  })

  test('but not where the browser is signed in to another account', async () => {
    const world = await signedUp()
    const { browser, client, mailbox } = world
    const { userId } = await sessionOf(browser)
    await browser.post('/auth/email/change', { newEmail, password: ada.password })
    const token = mailbox.token(await mailbox.waitFor(newEmail))
    const grace = client()
    await grace.signUp({ ...ada, email: 'grace@example.test' })
    expect(await eventsOf(world, () => grace.post('/auth/email/confirm', { token }))).toMatchObject([
      { event: 'email_changed', actor: null, userId },
    ])
  })

  test('also where a confirmation is mailed again', async () => {
    const world = await oauthWorld({ registration: { emailVerification: 'optional' } })
    const browser = world.client()
    await browser.post('/auth/register', ada)
    const actor = await sessionOf(browser)
    expect(await eventsOf(world, () => browser.post('/auth/verify-email/resend'))).toMatchObject([
      { event: 'verification_requested', outcome: 'success', actor, userId: actor.userId },
    ])
  })
})

describe('a link that is refused at the way back', () => {
  async function refused(world: World, answer: (url: string) => string) {
    const { body } = await world.browser.post<{ url: string }>('/auth/oauth/google/link', {})
    return eventsOf(world, () => comeBack(world.browser, answer(body.url)))
  }
  const failure = (reason: string) => ({ event: 'login', outcome: 'failure', detail: { reason } })

  test('carries the user who is signed in and asked for it', async () => {
    const world = await signedUp()
    const { browser, client, peer } = world
    const grace = client()
    await grace.signUp({ ...ada, email: 'grace@example.test' })
    await linkGoogle(world, grace)
    const actor = await sessionOf(browser)
    expect(await refused(world, (url) => peer.answer(url))).toMatchObject([
      { ...failure('identity_taken'), actor, userId: actor.userId },
    ])
    expect(await refused(world, (url) => peer.answer(url).replace(/([?&])code=/, '$1other='))).toMatchObject([
      { ...failure('oauth_failed'), actor, userId: actor.userId },
    ])
  })

  test('has no actor in a browser that is not signed in with that session', async () => {
    const world = await signedUp()
    const { browser, peer } = world
    const actor = await sessionOf(browser)
    peer.signInAs(adaAtGoogle)
    const { body } = await browser.post<{ url: string }>('/auth/oauth/google/link', {})
    const other = browser.copy()
    await other.signIn(ada)
    expect(await eventsOf(world, () => comeBack(other, peer.answer(body.url)))).toMatchObject([
      { ...failure('oauth_state'), actor: null, userId: actor.userId },
    ])
  })
})

describe('a session that begins, goes on or ends', () => {
  test('is its own actor at sign-in, re-issue and sign-out', async () => {
    const world = await signedUp()
    const browser = world.client()
    const begun = await eventsOf(world, () => browser.signIn(ada))
    const actor = await sessionOf(browser)
    expect(begun).toMatchObject([{ event: 'login', actor }])

    const thief = browser.copy()
    await browser.refresh()
    const elsewhere = { headers: { 'user-agent': 'curl/8' } }
    const reissued = await eventsOf(world, () => thief.post('/auth/refresh', undefined, elsewhere))
    expect(reissued).toMatchObject([{ event: 'refresh_reissued', actor }])
    expect(await eventsOf(world, () => browser.signOut())).toMatchObject([{ event: 'logout', actor }])
  })

  test('names the session before at the sign-out that a further sign-in brings', async () => {
    const world = await signedUp()
    const former = await sessionOf(world.browser)
    const events = await eventsOf(world, () => world.browser.signIn(ada))
    expect(events).toMatchObject([
      { event: 'login', actor: await sessionOf(world.browser) },
      { event: 'logout', actor: former },
    ])
  })

  test('has no actor where two hold one refresh token', async () => {
    const world = await signedUp()
    const { browser, runtime } = world
    const thief = browser.copy()
    for (let times = 0; times < 2; times += 1) {
      await browser.refresh()
      await browser.get('/api/notes')
      await runtime.clock.advance('40s')
    }
    expect(await eventsOf(world, () => thief.refresh())).toMatchObject([{ event: 'refresh_token_reuse', actor: null }])
  })

  test('of a second step names its session, and the first step nobody', async () => {
    const world = await signedUp()
    const { browser, client, runtime } = world
    const { nextCode, wrongCode } = await enrol(browser, ada.password, runtime.clock)
    const other = client()
    const events = await eventsOf(world, async () => {
      await other.post('/auth/login', ada)
      await other.post('/auth/login/two-factor', { code: wrongCode() })
      await other.post('/auth/login/two-factor', { code: await nextCode() })
    })
    expect(named(events)).toEqual(['two_factor_asked success', 'login failure', 'login success'])
    expect(events.map(({ actor }) => actor)).toEqual([null, null, await sessionOf(other)])
  })
})

describe('a request without a credential has no actor', () => {
  test('at registration, failed sign-ins, and whatever a mailed link or code proves', async () => {
    const world = await signedUp()
    const { browser, client, mailbox } = world
    await browser.post('/auth/email/change', { newEmail, password: ada.password })
    await browser.post('/auth/email/confirm', { token: mailbox.token(await mailbox.waitFor(newEmail)) })
    const undo = mailbox.token(await mailbox.waitFor(ada.email, 'Your email address was changed'))
    const grace = { email: 'grace@example.test', password: newPassword }

    const events = await eventsOf(world, async () => {
      await client().post('/auth/register', grace)
      await client().post('/auth/login', grace)
      await client().post('/auth/login', { ...ada, password })
      await client().post('/auth/otp', { email: newEmail })
      // The browser is signed in, and what it sends there is no credential.
      await browser.post('/auth/password/forgot', { email: newEmail })
      const token = mailbox.token(await mailbox.waitFor(newEmail, 'Choose a new password'))
      await browser.post('/auth/password/reset', { token, password: newPassword })
      await browser.post('/auth/email/undo', { token: undo })
    })
    expect(named(events)).toEqual([
      'registration_requested success',
      'verification_requested success',
      'login failure',
      'login failure',
      'otp_requested success',
      'password_reset_requested success',
      'password_reset success',
      'email_restored success',
    ])
    expect(events.map(({ actor }) => actor)).toEqual(events.map(() => null))
  })

  test('at the way in by a provider, until the session begins', async () => {
    const world = await oauthWorld()
    const browser = world.client()
    const events = await eventsOf(world, () => enterAs(world, browser, adaAtGoogle))
    expect(named(events)).toEqual(['account_created success', 'login success'])
    expect(events.map(({ actor }) => actor)).toEqual([null, await sessionOf(browser)])
  })
})

describe('no request names an actor itself', () => {
  const forged = { kind: 'application', userId: 'eve', sessionId: 'eve', impersonating: 'ada', tokenId: 'eve' }
  const text = JSON.stringify(forged)
  const headers = {
    actor: text,
    'x-actor': text,
    'x-latchkey-actor': text,
    'x-impersonate': 'ada',
    cookie: `actor=eve`,
  }
  const body = { ...forged, actor: forged, visitor: { actor: forged } }
  const query = `?actor=${encodeURIComponent(text)}&impersonating=ada&userId=eve`

  test('by body, header or query, with a credential or without', async () => {
    const world = await signedUp()
    const { browser, client } = world
    const actor = await sessionOf(browser)
    const { cookie: _, ...plain } = headers
    const events = await eventsOf(world, async () => {
      await client().post(`/auth/login${query}`, { ...body, ...ada, password }, { headers })
      const change = { ...body, currentPassword: password, newPassword }
      await browser.post(`/auth/password/change${query}`, change, { headers: plain })
    })
    expect(named(events)).toEqual(['login failure', 'password_changed failure'])
    expect(events.map((entry) => entry.actor)).toEqual([null, actor])
  })
})
