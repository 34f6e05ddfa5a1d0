import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { init, type LatchkeySettings } from '../../src/index.js'
import { createOAuthPeer, createTestRuntime, type OAuthPeer } from '../../src/testing.js'
import { type AttackServer, ada, attackServer } from '../support/attack-server.js'
import { enrol } from '../support/totp.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { enterCode } from './code.js'
import { type Providers, playProviders } from './providers.js'

const ways = [
  ['without scripts', false],
  ['with scripts', true],
] as const

/** An address that Google speaks for, one that only its own company could, and somebody without any. */
const adaAtGoogle = { id: '42', email: 'ada@gmail.com', name: 'Ada Lovelace' }
const adaAtWork = { id: 'a-7', email: ada.email, name: 'Ada' }
const nobody = { id: '99' }

describe.skipIf(isChromiumMissing())('signing in by a provider in Chromium', { timeout: 60_000 }, () => {
  let browser: Browser
  let server: AttackServer
  let peer: OAuthPeer
  let faults: string[][]
  let contexts: BrowserContext[]
  /** Whether the providers' servers answer ours. */
  let down: boolean

  beforeAll(async () => {
    browser = await launchChromium()
  })

  afterAll(() => browser?.close())

  beforeEach(() => {
    faults = []
    contexts = []
    down = false
  })

  afterEach(async () => {
    for (const context of contexts) await context.close()
    await server.close()
    expect(faults.flat()).toEqual([])
  })

  /** An application whose providers are played by the offline peer, on both sides of it. */
  async function begin(settings: Partial<LatchkeySettings> = {}): Promise<void> {
    server = await attackServer({
      startAt: Date.now(), // Chromium's clock is the real one.
      settings: {
        redirectSuccessUrl: '/home',
        redirectLogoutUrl: '/auth/signed-out',
        baseAPIRoutes: '/home',
        ...settings,
      },
      install(app, given, { clock }) {
        peer = createOAuthPeer({ clock, baseUrl: given.baseUrl ?? '' })
        const fetch: typeof globalThis.fetch = (...asked) =>
          down ? Promise.reject(new TypeError('fetch failed')) : peer.fetch(...asked)
        return init(app, { ...given, ...peer.settings }, createTestRuntime({ clock, fetch }))
      },
      after(app) {
        app.get(['/home', '/home/inbox'], (request, response) => {
          response.type('html').send(`<!doctype html><title>Home</title><h1>Signed in as ${request.auth?.kind}</h1>`)
        })
      },
    })
  }

  /** A browser of somebody's, with the providers in front of it. */
  async function arrive(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ page: Page; providers: Providers }> {
    const context = await browser.newContext(options)
    contexts.push(context)
    context.setDefaultTimeout(15_000)
    faults.push(collectFaults(context))
    const page = await context.newPage()
    return { page, providers: await playProviders(page, peer) }
  }

  const open = (page: Page, path: string) => page.goto(`${server.url}/auth${path}`)
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()
  const says = (page: Page, text: string) => page.getByText(text).first().waitFor()
  const alerts = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()
  const isIn = (page: Page) => page.getByText('Signed in as session').waitFor()
  const row = (page: Page, provider: string) => page.locator('#identities li', { hasText: provider })
  const path = (page: Page) => page.url().slice(server.url.length)
  const trades = () => peer.requests.filter(({ method }) => method === 'POST').length

  /** There and back, by clicks. */
  async function goBy(page: Page, provider: string, answer = 'Allow'): Promise<void> {
    await follow(page, `Continue with ${provider}`)
    await follow(page, answer)
  }

  async function signInByPassword(page: Page, { email, password } = ada): Promise<void> {
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await press(page, 'Sign in')
  }

  test.each(ways)(
    'a new account lands where its owner wanted to go, and is known again, %s',
    async (_, javaScriptEnabled) => {
      await begin()
      peer.signInAs(adaAtGoogle)
      const { page, providers } = await arrive({ javaScriptEnabled })
      await open(page, `/login?redirect=${encodeURIComponent('/home?tab=2')}`)
      await goBy(page, 'Google')
      await isIn(page)
      expect(path(page)).toBe('/home?tab=2')
      const user = await server.auth.users.findByEmail(adaAtGoogle.email)
      expect(user).toMatchObject({ name: 'Ada Lovelace', emailVerified: true })

      // The address of the callback again: it ends where the first one did, and asks the provider nothing.
      await page.goto(providers.callback())
      await isIn(page)
      expect([path(page), trades()]).toEqual(['/home?tab=2', 1])

      await open(page, '/account')
      await row(page, 'Google').getByText('This is the last way into the account.').waitFor()
      await row(page, 'GitHub').getByRole('button', { name: 'Link GitHub' }).waitFor()
      await page.getByRole('button', { name: 'Sign out', exact: true }).first().click()
      await says(page, 'signed out')

      await open(page, '/login')
      await goBy(page, 'Google')
      await isIn(page)
      expect(path(page)).toBe('/home')
      expect((await server.auth.users.findByEmail(adaAtGoogle.email))?.id).toBe(user?.id)
      expect(await page.evaluate('document.cookie')).toBe('')
    },
  )

  test('who cancels reads it on the sign-in page, and may go again to the same end', async () => {
    await begin()
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    await open(page, `/login?redirect=${encodeURIComponent('/home?tab=2')}`)
    await goBy(page, 'Google', 'Cancel')
    await alerts(page, 'The sign-in was cancelled.')
    await goBy(page, 'GitHub')
    await isIn(page)
    expect(path(page)).toBe('/home?tab=2')
  })

  test('a callback counts in its own browser alone, and in its time', async () => {
    await begin()
    peer.signInAs(adaAtGoogle)
    const { page, providers } = await arrive()
    await open(page, '/login')
    await follow(page, 'Continue with Google')
    const allow = page.getByRole('link', { name: 'Allow' })
    await allow.waitFor()

    const other = await arrive()
    await other.page.goto(providers.callback())
    await alerts(other.page, 'started in another browser')
    await allow.click()
    await isIn(page)

    await page.context().clearCookies({ name: /access|refresh/ })
    await server.runtime.clock.advance('11m')
    await page.goto(providers.callback())
    await alerts(page, 'This sign-in took too long')
    expect(trades()).toBe(1)
  })

  test('a provider that does not answer is told of, on the way there and back', async () => {
    await begin()
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    await open(page, '/login')
    await follow(page, 'Continue with Google')
    down = true
    await follow(page, 'Allow')
    await alerts(page, 'The provider could not sign you in.')
    // The issuer must be asked for its addresses first.
    await follow(page, 'Continue with Company')
    await page.waitForURL(/error=oauth_failed&provider=company/)
    await alerts(page, 'The provider could not sign you in.')
    down = false
    await goBy(page, 'Google')
    await isIn(page)
  })

  test('an address that the provider has not verified makes no account and opens none', async () => {
    await begin()
    peer.signInAs({ ...adaAtGoogle, emailVerified: false })
    const { page } = await arrive()
    await open(page, '/login')
    await goBy(page, 'Google')
    await alerts(page, 'Your address is not verified with that provider.')
    expect(await server.auth.users.findByEmail(adaAtGoogle.email)).toBeNull()
  })

  test('who has verified the same address here and at GitHub is joined, and gets a mail', async () => {
    await begin()
    await server.auth.users.create({ ...ada, emailVerified: true })
    peer.signInAs({ id: '7', email: ada.email })
    const { page } = await arrive()
    await open(page, '/login')
    await goBy(page, 'GitHub')
    await isIn(page)
    expect((await server.mailbox.waitFor(ada.email, /new way to sign in/)).text).toContain('GitHub')
    await open(page, '/account')
    await row(page, 'GitHub').getByRole('button', { name: 'Remove GitHub' }).waitFor()
  })

  test.each(ways)(
    'whose address the provider cannot speak for signs in first, and links then, %s',
    async (_, javaScriptEnabled) => {
      await begin()
      await server.auth.users.create({ ...ada, emailVerified: true })
      peer.signInAs(adaAtWork)
      const { page } = await arrive({ javaScriptEnabled })
      await open(page, '/login')
      await goBy(page, 'Company')
      await alerts(page, 'There is already an account with this address.')
      await signInByPassword(page, { ...ada, password: 'not the password' })
      await alerts(page, 'The email or the password is wrong.')
      await signInByPassword(page)
      await says(page, 'You wanted to sign in with Company.')
      await press(page, 'Finish linking Company')
      await follow(page, 'Allow')
      await says(page, 'Linked. You can sign in with it from now on.')
      await row(page, 'Company').getByRole('button', { name: 'Remove Company' }).waitFor()

      await page.context().clearCookies()
      await open(page, '/login')
      await goBy(page, 'Company')
      await isIn(page)
    },
  )

  test.each(ways)('who brings no address names one and confirms it by mail, %s', async (_, javaScriptEnabled) => {
    await begin()
    peer.signInAs(nobody)
    const { page } = await arrive({ javaScriptEnabled })
    await open(page, `/login?redirect=${encodeURIComponent('/home?tab=2')}`)
    await goBy(page, 'GitHub')
    await says(page, 'You have signed in with GitHub.')
    await page.getByLabel('Email address').fill('new@example.test')
    await press(page, 'Continue')
    const mail = await server.mailbox.waitFor('new@example.test', 'Confirm')
    await enterCode(page, 'Code from the mail', server.mailbox.code(mail), 'Confirm')
    await isIn(page)
    expect(path(page)).toBe('/home?tab=2')
    await open(page, '/account')
    await row(page, 'GitHub').getByText('This is the last way into the account.').waitFor()
  })

  test('who comes to the page that asks for an address too late is led back to the start', async () => {
    await begin()
    peer.signInAs(nobody)
    const { page } = await arrive()
    await open(page, '/login')
    await goBy(page, 'GitHub')
    await page.getByLabel('Email address').fill('new@example.test')
    await server.runtime.clock.advance('16m')
    await press(page, 'Continue')
    await says(page, 'This sign-in has ended, or it took too long.')
    await follow(page, 'Sign in again')
    await page.getByRole('link', { name: 'Continue with GitHub' }).waitFor()
  })

  test.each(ways)(
    'the second step is asked for, and leads to where it was to end, %s',
    async (_, javaScriptEnabled) => {
      await begin()
      await server.auth.users.create({ ...ada, emailVerified: true })
      const phone = server.client()
      await phone.signIn(ada)
      const factor = await enrol(phone, ada.password, server.runtime.clock)
      peer.signInAs({ id: '7', email: ada.email })
      const { page } = await arrive({ javaScriptEnabled })
      await page.goto(`${server.url}/home/inbox`)
      await goBy(page, 'GitHub')
      await says(page, 'Enter the code that your authenticator app shows now.')
      await page.getByLabel('Code from your authenticator app').fill(factor.backupCodes[0] ?? '')
      await press(page, 'Sign in')
      await isIn(page)
      expect(path(page)).toBe('/home/inbox')
    },
  )

  test.each(ways)(
    'a login is linked and removed on the account page, but never the last way in, %s',
    async (_, javaScriptEnabled) => {
      await begin({ otp: { enabled: false } })
      peer.signInAs(adaAtGoogle)
      const { page } = await arrive({ javaScriptEnabled })
      await open(page, '/login')
      await goBy(page, 'Google')
      await isIn(page)
      await open(page, '/account')
      await row(page, 'Google').getByText('This is the last way into the account.').waitFor()
      expect(await row(page, 'Google').getByRole('button').count()).toBe(0)

      peer.signInAs({ id: '7', email: 'ada@elsewhere.test' })
      await press(page, 'Link GitHub')
      await follow(page, 'Cancel')
      await alerts(page, 'The sign-in was cancelled.')
      await press(page, 'Link GitHub')
      await follow(page, 'Allow')
      await says(page, 'Linked. You can sign in with it from now on.')
      await press(page, 'Remove Google')
      await says(page, 'Removed.')
      await row(page, 'Google').getByRole('button', { name: 'Link Google' }).waitFor()
      await server.mailbox.waitFor(adaAtGoogle.email, /A way to sign in was removed/)
    },
  )

  test('whose account has a second step links after it', async () => {
    await begin()
    await server.auth.users.create({ ...ada, emailVerified: true })
    const phone = server.client()
    await phone.signIn(ada)
    const factor = await enrol(phone, ada.password, server.runtime.clock)
    peer.signInAs(adaAtWork)
    const { page } = await arrive()
    await open(page, '/login')
    await goBy(page, 'Company')
    await alerts(page, 'There is already an account with this address.')
    await signInByPassword(page)
    await page.getByLabel('Code from your authenticator app').fill(factor.backupCodes[0] ?? '')
    await press(page, 'Sign in')
    await says(page, 'You wanted to sign in with Company.')
    await press(page, 'Finish linking Company')
    await follow(page, 'Allow')
    await says(page, 'Linked. You can sign in with it from now on.')
  })

  test('going back at a provider leads to the page before, also over the page that leads on', async () => {
    await begin()
    await server.auth.users.create({ ...ada, emailVerified: true })
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    const allow = page.getByRole('link', { name: 'Allow' })
    await open(page, '/login?redirect=/auth/account')
    await follow(page, 'Continue with Google')
    await allow.waitFor()
    await page.goBack()
    await signInByPassword(page)
    await press(page, 'Link Google')
    await allow.waitFor()
    await page.goBack()
    await press(page, 'Link Google')
    await follow(page, 'Allow')
    await says(page, 'Linked. You can sign in with it from now on.')
  })

  test('whose account has no password links after signing in by another provider', async () => {
    await begin()
    await server.auth.users.create({ email: ada.email, emailVerified: true })
    const { page } = await arrive()
    peer.signInAs(adaAtWork)
    await open(page, '/login')
    await goBy(page, 'Company')
    await alerts(page, 'There is already an account with this address.')
    peer.signInAs({ id: '7', email: ada.email })
    await goBy(page, 'GitHub')
    await says(page, 'You wanted to sign in with Company.')

    // Somebody who thinks about it for long proves again who they are, and is led back to it.
    await server.runtime.clock.advance('6m')
    await page.reload()
    await page.locator('#linking').getByRole('button', { name: 'Sign in again' }).click()
    await goBy(page, 'GitHub')
    peer.signInAs(adaAtWork)
    await press(page, 'Finish linking Company')
    await follow(page, 'Allow')
    await says(page, 'Linked. You can sign in with it from now on.')
    await row(page, 'Company').getByRole('button', { name: 'Remove Company' }).waitFor()
  })

  test('a sign-in that is no longer young asks for the password before it links or removes', async () => {
    await begin()
    await server.auth.users.create({ ...ada, emailVerified: true })
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    await open(page, '/login?redirect=/auth/account')
    await signInByPassword(page)
    await page.waitForURL(/\/auth\/account$/)
    await server.runtime.clock.advance('6m')
    await page.reload()
    await row(page, 'Google').locator('summary').click()
    await row(page, 'Google').getByLabel('Password', { exact: true }).fill('not the password')
    await press(page, 'Link Google')
    await alerts(page, 'The password is wrong.')
    await row(page, 'Google').locator('summary').click()
    await row(page, 'Google').getByLabel('Password', { exact: true }).fill(ada.password)
    await press(page, 'Link Google')
    await follow(page, 'Allow')
    await says(page, 'Linked. You can sign in with it from now on.')
  })

  test('what belongs to another user is refused on the account page', async () => {
    await begin()
    peer.signInAs(adaAtGoogle)
    const first = await arrive()
    await open(first.page, '/login')
    await goBy(first.page, 'Google')
    await isIn(first.page)

    await server.auth.users.create({ ...ada, emailVerified: true })
    const { page } = await arrive()
    await open(page, '/login?redirect=/auth/account')
    await signInByPassword(page)
    await press(page, 'Link Google')
    await follow(page, 'Allow')
    await alerts(page, 'This login already belongs to another account.')
    await row(page, 'Google').getByRole('button', { name: 'Link Google' }).waitFor()
  })

  test('a link that another session comes back for is refused, and links nothing', async () => {
    await begin()
    const { id } = await server.auth.users.create({ ...ada, emailVerified: true })
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    await open(page, '/login?redirect=/auth/account')
    await signInByPassword(page)
    await press(page, 'Link Google')
    const allow = page.getByRole('link', { name: 'Allow' })
    await allow.waitFor()
    await page.context().clearCookies({ name: /access|refresh/ })
    await allow.click()
    await alerts(page, 'This sign-in took too long or was started in another browser.')
    expect((await server.auth.users.get(id))?.identities).toEqual([])
  })

  test('a disabled account stays shut, and where registration is closed nobody is new', async () => {
    await begin({ registration: { enabled: false } })
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive()
    await open(page, '/login')
    await goBy(page, 'Google')
    await alerts(page, 'Registration is closed.')
    const { id } = await server.auth.users.create({ email: adaAtGoogle.email, emailVerified: true })
    await goBy(page, 'Google')
    await isIn(page)
    await page.context().clearCookies()
    await server.auth.users.disable(id)
    await open(page, '/login')
    await goBy(page, 'Google')
    await alerts(page, 'This account is disabled.')
  })

  test.each(ways)('with strict cookies it goes the same way, over a page of ours, %s', async (_, javaScriptEnabled) => {
    await begin({ cookies: { sameSite: 'strict' } })
    peer.signInAs(adaAtGoogle)
    const { page } = await arrive({ javaScriptEnabled })
    const ledOn: string[] = []
    page.on('request', (request) => {
      if (request.isNavigationRequest() && request.url().includes('here=1')) ledOn.push(request.url())
    })
    await open(page, `/login?redirect=${encodeURIComponent('/home?tab=2')}`)
    await goBy(page, 'Google')
    await isIn(page)
    expect(path(page)).toBe('/home?tab=2')
    await open(page, '/account')
    peer.signInAs({ id: '7', email: 'ada@elsewhere.test' })
    await press(page, 'Link GitHub')
    await follow(page, 'Allow')
    await says(page, 'Linked. You can sign in with it from now on.')
    expect(ledOn).toHaveLength(2)
  })

  const looks = [
    ['in light', { colorScheme: 'light' }],
    ['in dark', { colorScheme: 'dark' }],
    ['on a narrow phone', { viewport: { width: 360, height: 740 } }],
  ] as const

  test.each(looks)(
    'axe finds nothing on the pages between, and nothing scrolls sideways, %s',
    async (look, options) => {
      await begin({ cookies: { sameSite: 'strict' }, brand: { name: 'Analytical Engines' } })
      await server.auth.users.create({ ...ada, emailVerified: true })
      peer.signInAs(nobody)
      const { page, providers } = await arrive({ bypassCSP: true, ...options })
      const check = async (name: string) => {
        expect(await axeFaults(page), name).toEqual([])
        expect(await overflows(page), name).toBe(false)
        const folder = process.env.SCREENSHOTS
        if (!folder) return
        mkdirSync(folder, { recursive: true })
        await page.screenshot({ path: join(folder, `${name}-${look.replaceAll(' ', '-')}.png`), fullPage: true })
      }
      await open(page, '/login')
      await check('login')
      await goBy(page, 'GitHub')
      await says(page, 'You have signed in with GitHub.')
      await check('register-identity')
      await open(page, '/register/identity?error=invalid_request')
      await check('register-identity-error')
      await page.context().clearCookies()
      await open(page, '/register/identity')
      await says(page, 'This sign-in has ended')
      await check('register-identity-over')

      await open(page, '/login')
      peer.signInAs(adaAtWork)
      await goBy(page, 'Company')
      await alerts(page, 'There is already an account with this address.')
      await check('link-required')
      await signInByPassword(page)
      await says(page, 'You wanted to sign in with Company.')
      await check('account-linking')

      await providers.stay()
      await press(page, 'Finish linking Company')
      await says(page, 'You are being taken to Company.')
      await check('oauth-continue')

      await open(page, '/login?error=oauth_denied')
      await goBy(page, 'Google')
      await says(page, 'You are being taken back.')
      await check('oauth-return')
    },
  )
})
