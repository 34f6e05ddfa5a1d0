import { describe, expect, it } from 'vitest'
import { createOAuthPeer, type SignedIn, type TestAnswer, type TestClient } from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { type FailingDatabase, failingDatabase } from '../support/failing-database.js'
import {
  adaAtGoogle,
  comeBack,
  enterAs,
  goTo,
  type OAuthWorld,
  oauthWorld,
  type ProviderName,
} from '../support/oauth.js'
import { enrol, type Factor, firstStep, totpCode } from '../support/totp.js'

/** One for all scenes, which come one after the other: its key takes long to make. */
const peer = createOAuthPeer()

interface Scene extends OAuthWorld {
  browser: TestClient
  /** What `prepare` has left for the step. */
  token?: string
  factor?: Factor
}

interface Walk {
  name: string
  prepare(scene: Scene): Promise<unknown>
  step(scene: Scene): Promise<TestAnswer>
  /** The status of the step when nothing fails. */
  status: number
  /** A navigation: a failure leads to the page that tells of it. */
  leads?: true
  /** What it came with may be used up: the way is gone again from its beginning, by `after`. */
  once?: true
  /** Whatever the failure left behind, this must hold after the step was tried again. */
  after(scene: Scene, again: TestAnswer): Promise<void>
}

const signedIn = ({ browser }: Scene) => browser.signUp(ada)

const newPassword = 'analytical engine 1843'

const moved = { ...ada, email: 'ada@new.example.test' }

async function askedToMove(scene: Scene): Promise<void> {
  await signedIn(scene)
  await scene.browser.post('/auth/email/change', { newEmail: moved.email, password: ada.password })
  scene.token = scene.mailbox.token(await scene.mailbox.waitFor(moved.email))
}

async function withFactor(scene: Scene): Promise<void> {
  await signedIn(scene)
  scene.factor = await enrol(scene.browser, ada.password, scene.runtime.clock)
  await scene.runtime.clock.advance('30s')
}

/** A code that no step of the walk has used: of the time that has passed, or of the drawer. */
async function canSignInByFactor({ client, factor }: Scene, code = factor?.backupCodes[9]): Promise<void> {
  const browser = client()
  const challenge = await firstStep(browser, ada)
  expect((await browser.post('/auth/login/two-factor', { challenge, code })).status).toBe(200)
}

/** Leaves the way back from a provider to the step. */
async function atProvider(scene: Scene, name: ProviderName = 'google'): Promise<void> {
  scene.peer.signInAs(adaAtGoogle)
  scene.token = scene.peer.answer(await goTo(scene.browser, name))
}

async function comesIn(scene: Scene): Promise<void> {
  expect((await enterAs(scene, scene.browser, adaAtGoogle)).headers.get('location')).toBe('/')
  const { user } = (await scene.browser.get<SignedIn>('/auth/me')).body
  expect(user).toMatchObject({ email: adaAtGoogle.email, identities: [{ provider: 'google' }] })
}

async function linkUrl({ browser, peer }: Scene): Promise<string> {
  peer.signInAs(adaAtGoogle)
  return (await browser.post<{ url: string }>('/auth/oauth/google/link', { password: ada.password })).body.url
}

async function linksTo({ browser, peer, auth }: Scene, url: string): Promise<void> {
  peer.signInAs(adaAtGoogle)
  const answer = await comeBack(browser, peer.answer(url))
  expect(answer.headers.get('location')).toBe('/auth/account?done=identity_linked#identities')
  expect(await auth.users.findByEmail(ada.email)).toMatchObject({ identities: [{ provider: 'google' }] })
}

async function canSignIn({ client }: Scene, password = ada.password): Promise<void> {
  expect((await client().post('/auth/login', { ...ada, password })).status).toBe(200)
}

/** Asks for a code, and leaves its link to the step. */
async function mailedCode(scene: Scene, emailVerified: boolean): Promise<void> {
  await scene.auth.users.create({ ...ada, name: 'Ada', emailVerified })
  scene.token = await askForCode(scene)
}

async function askForCode({ browser, mailbox }: Scene): Promise<string> {
  expect((await browser.post('/auth/otp', { email: ada.email })).status).toBe(202)
  return mailbox.token(await mailbox.waitFor(ada.email, 'Your code to sign in'))
}

async function enterByCode(scene: Scene): Promise<void> {
  const token = await askForCode(scene)
  expect((await scene.browser.post('/auth/otp/verify', { token })).status).toBe(200)
  expect((await scene.browser.get('/api/notes')).status).toBe(200)
}

const walks: readonly Walk[] = [
  {
    name: 'registering',
    prepare: async () => {},
    step: ({ browser }) => browser.post('/auth/register', ada),
    status: 202,
    async after({ browser, mailbox, runtime }, again) {
      expect(again.status).toBe(202)
      await runtime.clock.advance('2m')
      const token = new URL(mailbox.link(await mailbox.waitFor(ada.email))).searchParams.get('token')
      expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
    },
  },
  {
    name: 'confirming',
    async prepare(scene) {
      await scene.browser.post('/auth/register', ada)
      const link = new URL(scene.mailbox.link(await scene.mailbox.waitFor(ada.email)))
      scene.token = link.searchParams.get('token') ?? ''
    },
    step: ({ browser, token }) => browser.post('/auth/verify-email', { token }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      await canSignIn(scene)
    },
  },
  {
    name: 'signing in',
    prepare: async (scene) => {
      await signedIn(scene)
      await scene.browser.signOut()
    },
    step: ({ browser }) => browser.post('/auth/login', ada),
    status: 200,
    async after({ browser }, again) {
      expect(again.status).toBe(200)
      expect((await browser.get('/api/notes')).status).toBe(200)
    },
  },
  {
    name: 'refreshing',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/refresh'),
    status: 200,
    async after({ browser }, again) {
      expect(again.status).toBe(200)
      expect((await browser.get('/api/notes')).status).toBe(200)
    },
  },
  {
    name: 'signing out',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/logout'),
    status: 204,
    async after({ browser }, again) {
      expect(again.status).toBe(204)
      expect((await browser.get('/api/notes')).status).toBe(401)
    },
  },
  {
    name: 'ending all other sessions',
    prepare: async (scene) => {
      await signedIn(scene)
      await scene.client().signIn(ada)
    },
    step: ({ browser }) => browser.delete('/auth/sessions'),
    status: 204,
    async after({ browser }, again) {
      expect(again.status).toBe(204)
      const { body } = await browser.get<{ sessions: unknown[] }>('/auth/sessions')
      expect(body.sessions).toHaveLength(1)
    },
  },
  {
    name: 'asking for a new password',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/password/forgot', { email: ada.email }),
    status: 202,
    async after({ browser, mailbox, runtime }, again) {
      expect(again.status).toBe(202)
      await runtime.clock.advance('2m')
      const token = mailbox.token(await mailbox.waitFor(ada.email, 'Choose a new password'))
      expect((await browser.post('/auth/password/reset', { token, password: newPassword })).status).toBe(200)
    },
  },
  {
    name: 'resetting the password',
    async prepare(scene) {
      await signedIn(scene)
      await scene.browser.post('/auth/password/forgot', { email: ada.email })
      scene.token = scene.mailbox.token(await scene.mailbox.waitFor(ada.email, 'Choose a new password'))
    },
    step: ({ browser, token }) => browser.post('/auth/password/reset', { token, password: newPassword }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      expect((await scene.browser.get('/api/notes')).status).toBe(401)
      await canSignIn(scene, newPassword)
    },
  },
  {
    name: 'asking for a code',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/otp', { email: ada.email }),
    status: 202,
    async after({ browser, mailbox, runtime }, again) {
      expect(again.status).toBe(202)
      await runtime.clock.advance('2m')
      const code = mailbox.code(await mailbox.waitFor(ada.email, 'Your code to sign in'))
      expect((await browser.post('/auth/otp/verify', { email: ada.email, code })).status).toBe(200)
    },
  },
  {
    name: 'signing in by a code',
    prepare: (scene) => mailedCode(scene, true),
    step: ({ browser, token }) => browser.post('/auth/otp/verify', { token }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      await canSignIn(scene)
      await enterByCode(scene)
    },
  },
  {
    name: 'signing in by a code that is the first proof of the address',
    prepare: (scene) => mailedCode(scene, false),
    step: ({ browser, token }) => browser.post('/auth/otp/verify', { token }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      expect(await scene.auth.users.findByEmail(ada.email)).toMatchObject({ emailVerified: true, name: null })
      expect((await scene.client().post('/auth/login', ada)).status).toBe(401)
      await enterByCode(scene)
    },
  },
  {
    name: 'changing the password',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/password/change', { currentPassword: ada.password, newPassword }),
    status: 200,
    async after(scene, again) {
      expect(again.status).toBe(200)
      expect((await scene.browser.get('/api/notes')).status).toBe(200)
      await canSignIn(scene, newPassword)
    },
  },
  {
    name: 'asking for another address',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/email/change', { newEmail: moved.email, password: ada.password }),
    status: 202,
    async after({ browser, mailbox, runtime }, again) {
      expect(again.status).toBe(202)
      await runtime.clock.advance('2m')
      const token = mailbox.token(await mailbox.waitFor(moved.email))
      expect((await browser.post('/auth/email/confirm', { token })).status).toBe(200)
    },
  },
  {
    name: 'confirming another address',
    prepare: askedToMove,
    step: ({ browser, token }) => browser.post('/auth/email/confirm', { token }),
    status: 200,
    async after({ browser, client, mailbox, runtime }, again) {
      expect([200, 400]).toContain(again.status)
      await client().signIn(moved)
      await runtime.clock.advance('2m')
      const token = mailbox.token(await mailbox.waitFor(ada.email, 'was changed'))
      expect((await browser.post('/auth/email/undo', { token })).status).toBe(200)
    },
  },
  {
    name: 'taking an address back',
    async prepare(scene) {
      await askedToMove(scene)
      await scene.browser.post('/auth/email/confirm', { token: scene.token })
      scene.token = scene.mailbox.token(await scene.mailbox.waitFor(ada.email, 'was changed'))
    },
    step: ({ browser, token }) => browser.post('/auth/email/undo', { token }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      expect((await scene.browser.get('/api/notes')).status).toBe(401)
      await canSignIn(scene)
      expect((await scene.client().post('/auth/login', moved)).status).toBe(401)
    },
  },
  {
    name: 'asking for the second step of a sign-in',
    prepare: withFactor,
    step: ({ client }) => client().post('/auth/login', ada),
    status: 200,
    async after(scene, again) {
      expect(again.body).toMatchObject({ status: 'two_factor_required' })
      await canSignInByFactor(scene)
    },
  },
  {
    name: 'the second step of a sign-in',
    async prepare(scene) {
      await withFactor(scene)
      scene.token = await firstStep(scene.browser, ada)
    },
    step: ({ browser, token, factor }) =>
      browser.post('/auth/login/two-factor', { challenge: token, code: factor?.code() }),
    status: 200,
    async after(scene, again) {
      // 400: the session was open, and only what comes after it failed.
      expect([200, 400]).toContain(again.status)
      if (again.status === 200) expect((await scene.browser.get('/api/notes')).status).toBe(200)
      await canSignInByFactor(scene)
    },
  },
  {
    name: 'a backup code',
    async prepare(scene) {
      await withFactor(scene)
      scene.token = await firstStep(scene.browser, ada)
    },
    step: ({ browser, token, factor }) =>
      browser.post('/auth/login/two-factor', { challenge: token, code: factor?.backupCodes[0] }),
    status: 200,
    async after(scene, again) {
      expect([200, 400]).toContain(again.status)
      await canSignInByFactor(scene, scene.factor?.backupCodes[1])
    },
  },
  {
    name: 'beginning to set up a second factor',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/two-factor/totp', { password: ada.password }),
    status: 200,
    async after(scene, again) {
      expect(again.status).toBe(200)
      await canSignIn(scene)
      scene.factor = await enrol(scene.browser, ada.password, scene.runtime.clock)
      await canSignInByFactor(scene)
    },
  },
  {
    name: 'turning a second factor on',
    async prepare(scene) {
      await signedIn(scene)
      const begun = await scene.browser.post<{ secret: string }>('/auth/two-factor/totp', { password: ada.password })
      scene.token = begun.body.secret
    },
    step: ({ browser, token, runtime }) =>
      browser.post('/auth/two-factor/totp/confirm', { code: totpCode(token ?? '', runtime.clock.now()) }),
    status: 200,
    async after(scene, again) {
      expect(again.body).toMatchObject({ user: { twoFactor: true }, backupCodes: expect.any(Array) })
      const { backupCodes } = Object(again.body)
      await canSignInByFactor(scene, backupCodes[9])
    },
  },
  {
    name: 'replacing backup codes',
    prepare: withFactor,
    step: ({ browser, factor }) =>
      browser.post('/auth/two-factor/backup-codes', { password: ada.password, code: factor?.code() }),
    status: 200,
    async after(scene, again) {
      // 401: the codes were replaced, and only what comes after that failed.
      expect([200, 401]).toContain(again.status)
      if (again.status === 200) return canSignInByFactor(scene, Object(again.body).backupCodes[9])
      await canSignInByFactor(scene, await scene.factor?.nextCode())
    },
  },
  {
    name: 'turning a second factor off',
    prepare: withFactor,
    step: ({ browser, factor }) => browser.delete('/auth/two-factor', { password: ada.password, code: factor?.code() }),
    status: 204,
    async after(scene, again) {
      expect([204, 401]).toContain(again.status)
      await canSignIn(scene)
    },
  },
  {
    name: 'going to a provider',
    prepare: async () => {},
    step: ({ browser }) => browser.get('/auth/oauth/google'),
    status: 302,
    leads: true,
    async after(scene, again) {
      expect(again.headers.get('location')).toMatch(/^https:/)
      await comesIn(scene)
    },
  },
  {
    name: 'signing up by a provider',
    prepare: atProvider,
    step: ({ browser, token }) => comeBack(browser, token ?? ''),
    status: 302,
    leads: true,
    once: true,
    async after(scene) {
      await comesIn(scene)
      expect((await scene.auth.users.list()).items).toHaveLength(1)
    },
  },
  {
    name: 'signing in by a provider',
    async prepare(scene) {
      await comesIn(scene)
      await atProvider(scene)
    },
    step: ({ browser, token }) => comeBack(browser, token ?? ''),
    status: 302,
    leads: true,
    once: true,
    after: comesIn,
  },
  {
    name: 'joining an account that nobody had verified',
    async prepare(scene) {
      await scene.auth.users.create({ ...ada, email: adaAtGoogle.email, name: 'Mallory' })
      await atProvider(scene)
    },
    step: ({ browser, token }) => comeBack(browser, token ?? ''),
    status: 302,
    leads: true,
    once: true,
    async after(scene) {
      await comesIn(scene)
      expect((await scene.browser.get<SignedIn>('/auth/me')).body.user).toMatchObject({ name: null })
    },
  },
  {
    name: 'naming an address after a provider',
    async prepare(scene) {
      await atProvider(scene, 'company')
      await comeBack(scene.browser, scene.token ?? '')
    },
    step: ({ browser }) => browser.post('/auth/register/identity', { email: ada.email }),
    status: 202,
    async after({ browser, mailbox, runtime }, again) {
      expect(again.status).toBe(202)
      await runtime.clock.advance('2m')
      const token = mailbox.token(await mailbox.waitFor(ada.email))
      expect((await browser.post('/auth/verify-email', { token })).status).toBe(200)
    },
  },
  {
    name: 'beginning to link a login',
    prepare: signedIn,
    step: ({ browser }) => browser.post('/auth/oauth/google/link', { password: ada.password }),
    status: 200,
    after: async (scene, again) => linksTo(scene, Object(again.body).url),
  },
  {
    name: 'linking a login',
    async prepare(scene) {
      await signedIn(scene)
      scene.token = await linkUrl(scene)
    },
    step: ({ browser, token, peer }) => comeBack(browser, peer.answer(token ?? '')),
    status: 302,
    leads: true,
    once: true,
    after: async (scene) => linksTo(scene, await linkUrl(scene)),
  },
  {
    name: 'taking a login away',
    async prepare(scene) {
      await signedIn(scene)
      await linksTo(scene, await linkUrl(scene))
    },
    step: ({ browser }) => browser.delete('/auth/identities/google', { password: ada.password }),
    status: 204,
    async after(scene, again) {
      expect([204, 404]).toContain(again.status)
      expect(await scene.auth.users.findByEmail(ada.email)).toMatchObject({ identities: [] })
      await canSignIn(scene)
    },
  },
  {
    name: 'deleting the account',
    prepare: signedIn,
    step: ({ browser }) => browser.delete('/auth/me', { password: ada.password }),
    status: 204,
    async after({ client }, again) {
      expect([204, 401]).toContain(again.status)
      expect((await client().post('/auth/login', ada)).body).toMatchObject({ code: 'invalid_credentials' })
    },
  },
]

async function setScene(walk: Walk, database: FailingDatabase): Promise<Scene> {
  const world = await oauthWorld({ database: database.dialect }, peer)
  const scene: Scene = { ...world, browser: world.client() }
  await walk.prepare(scene)
  await scene.runtime.clock.advance('3s')
  return scene
}

/** The statements that fail, one at a time: the first of each kind. `npm run test:all` lets every one fail. */
function faultsAmong(kinds: readonly string[]): number[] {
  const places = [...kinds.keys()]
  if (process.env.LATCHKEY_TEST_ALL === '1') return places
  return places.filter((place) => kinds.indexOf(kinds[place] ?? '') === place)
}

describe.each(walks)('a store that fails at any statement of $name', (walk) => {
  it('ATK-076 answers 503, leaves nothing half-written, and the next try succeeds', async () => {
    const database = failingDatabase()
    const whole = await setScene(walk, database)
    database.failAfter(Number.POSITIVE_INFINITY)
    expect((await walk.step(whole)).status).toBe(walk.status)
    const { kinds } = database
    expect(kinds.length).toBeGreaterThan(0)

    for (const fault of faultsAmong(kinds)) {
      const failing = failingDatabase()
      const scene = await setScene(walk, failing)
      failing.failAfter(fault)
      const answer = await walk.step(scene)
      const place = `statement ${fault + 1} of ${kinds.length}`
      expect([walk.status, 503], place).toContain(answer.status)
      if (answer.status === 503) expect(answer.body).toMatchObject({ code: 'store_unavailable' })
      const led = /[?&]error=(\w+)/.exec(answer.headers.get('location') ?? '')?.[1]
      if (walk.leads && led) expect(led, place).toBe('store_unavailable')
      failing.failAfter(Number.POSITIVE_INFINITY)
      const failed = answer.status === 503 || led !== undefined
      await walk.after(scene, failed && !walk.once ? await walk.step(scene) : answer)
      await scene.auth.close()
    }
  })
})
