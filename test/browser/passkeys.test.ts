import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import {
  createTestClient,
  createTestClock,
  createTestMailbox,
  createTestRuntime,
  type TestClock,
  type TestMailbox,
  testSettings,
} from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { enrol, type Factor } from '../support/totp.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { enterCode } from './code.js'
import { addAuthenticator, type VirtualAuthenticator, withoutAutofill } from './virtual-authenticator.js'

const password = 'a difference engine of brass'
/** Set to a folder, it gets a picture of each page. */
const pictures = process.env.LATCHKEY_TEST_PICTURES

describe.skipIf(isChromiumMissing())('passkeys on our pages in Chromium', () => {
  let browser: Browser
  let server: Server
  let auth: Auth
  let clock: TestClock
  let mailbox: TestMailbox
  let address: string
  let context: BrowserContext
  let page: Page
  let phone: VirtualAuthenticator
  let faults: string[] = []

  beforeAll(async () => {
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    // Chromium's clock is the real one.
    clock = createTestClock(Date.now())
    mailbox = createTestMailbox()
    const app = express()
    const plenty = { ip: '10000/1m' }
    const settings = testSettings({
      baseUrl: address,
      mailbox,
      brand: { name: 'Analytical Engines' },
      redirectSuccessUrl: '/home',
      passkeys: { signUp: true },
      admin: { emails: ['admin@example.test'], twoFactor: false },
      limits: { login: plenty, mail: plenty, guess: plenty, other: plenty, refresh: plenty },
    })
    auth = init(app, settings, createTestRuntime({ clock }))
    app.get('/home', (_request, response) => {
      response.type('html').send('<!doctype html><title>Home</title><h1>Signed in</h1>')
    })
    server = createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
  })

  afterEach(async () => {
    await context?.close()
    expect(faults).toEqual([])
  })

  async function begin(options: Parameters<Browser['newContext']>[0] = {}): Promise<void> {
    context = await browser.newContext({ bypassCSP: true, ...options })
    faults = collectFaults(context)
    page = await context.newPage()
    phone = await addAuthenticator(page)
  }

  const open = (path: string) => page.goto(`${address}/auth${path}`)
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
  const isIn = () => page.waitForURL(`${address}/home`)
  const passkeys = () => page.locator('#passkeys li details')

  async function createAccount(email: string): Promise<void> {
    await auth.users.create({ email, password, emailVerified: true })
  }

  async function withFactor(email: string): Promise<Factor> {
    const client = createTestClient(address, { clock })
    await client.signIn({ email, password })
    return enrol(client, password, clock)
  }

  async function signIn(email: string): Promise<void> {
    await open('/login')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await press('Sign in')
  }

  /** An account with a passkey in the phone, signed out. */
  async function enrolled(email: string): Promise<void> {
    await createAccount(email)
    await begin()
    await withoutAutofill(page)
    // The sign-in asks for a passkey in passing.
    await signIn(email)
    await isIn()
    await open('/account')
    if ((await passkeys().count()) === 0) {
      await press('Add a passkey')
      await page.getByText('Passkey added.').waitFor()
    }
    await context.clearCookies()
  }

  async function picture(name: string): Promise<void> {
    if (!pictures) return
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true })
    }
  }

  async function expectAccessible(name: string): Promise<void> {
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await axeFaults(page), `${name} at ${width}`).toEqual([])
      expect(await overflows(page), `${name} at ${width}`).toBe(false)
    }
    await picture(name)
  }

  test('a user adds a passkey and signs in with it by the button', async () => {
    await createAccount('ada@example.test')
    await begin()
    await withoutAutofill(page)
    await page.addInitScript('PublicKeyCredential.getClientCapabilities = async () => ({})')
    await signIn('ada@example.test')
    await isIn()

    await open('/account')
    await page.getByText('No passkeys yet.').waitFor()
    await page.getByRole('link', { name: 'Passkeys' }).click()
    expect(new URL(page.url()).hash).toBe('#passkeys')
    await expectAccessible('account-none')
    await press('Add a passkey')
    await page.getByText('Passkey added.').waitFor()
    expect(await passkeys().count()).toBe(1)
    expect(await phone.credentials()).toHaveLength(1)
    await expectAccessible('account-one')
    await press('Add a passkey')
    await page.getByText('This device already has a passkey').waitFor()

    await context.clearCookies()
    await open('/login?redirect=/home')
    await expectAccessible('login')
    await press('Sign in with a passkey')
    await isIn()
  })

  test('a user renames a passkey and removes it, and the browser forgets it', async () => {
    await enrolled('amy@example.test')
    await open('/login')
    await press('Sign in with a passkey')
    await isIn()
    await open('/account')
    await passkeys().locator('summary').click()
    const name = page.getByLabel('Name of the passkey')
    await name.fill('   ')
    await page.locator('#passkeys').getByRole('button', { name: 'Save' }).click()
    expect(await page.locator('#passkeys input:invalid').count()).toBe(1)
    await name.fill('My <b>phone</b>')
    await expectAccessible('account-open')
    await page.locator('#passkeys').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByText('My <b>phone</b>').waitFor()
    await passkeys().locator('summary').click()
    await press('Remove passkey')
    await page.getByText('Passkey removed').waitFor()
    expect(await passkeys().count()).toBe(0)
    await expect.poll(() => phone.credentials()).toEqual([])
  })

  test('the sign-in page offers passkeys in the field for the address', async () => {
    await enrolled('bob@example.test')
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => true')
    await open('/login')
    await isIn()
  })

  test('a server that offers no challenge leaves the sign-in page as it is', async () => {
    await createAccount('bea@example.test')
    await begin()
    let asked = 0
    await page.route('**/passkeys/login/options', (route) => {
      asked += 1
      return route.fulfill({ status: 503, json: { code: 'store_unavailable' } })
    })
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => true')
    await open('/login')
    await page.getByLabel('Email address').fill('bea@example.test')
    await expect.poll(() => asked).toBe(6)
    expect(await page.getByLabel('Email address').inputValue()).toBe('bea@example.test')
  })

  test('a page that is open for longer than its access token still works', async () => {
    await createAccount('bo@example.test')
    await begin()
    await page.addInitScript('PublicKeyCredential.getClientCapabilities = async () => ({})')
    await signIn('bo@example.test')
    await isIn()
    await open('/account')
    const access = (await context.cookies()).find(({ name }) => name.includes('access'))
    await context.clearCookies({ name: access?.name ?? '' })
    await press('Add a passkey')
    await page.getByText('Passkey added.').waitFor()
  })

  test('a passkey that was removed elsewhere is refused, and the browser forgets it', async () => {
    await enrolled('cem@example.test')
    const [account] = (await auth.users.list({ query: 'cem@example.test' })).items
    await auth.users.delete(account?.id ?? '')
    await open('/login')
    await press('Sign in with a passkey')
    await page.getByText('This passkey cannot be used here.').waitFor()
    await expect.poll(() => phone.credentials()).toEqual([])
  })

  test('a passkey that is used too late is refused in words about passkeys', async () => {
    await enrolled('dot@example.test')
    await page.route('**/passkeys/login', async (route) => {
      await clock.advance('6m')
      await route.continue()
    })
    await open('/login')
    await press('Sign in with a passkey')
    await page.getByText('That took too long, or was answered in another tab.').waitFor()
  })

  test('without the check of a finger, a face or a PIN it does not sign in, and the page says so', async () => {
    await enrolled('dan@example.test')
    await phone.setUserVerified(false)
    await open('/login')
    await press('Sign in with a passkey')
    await page.getByText('No passkey was used.').waitFor()
    await expectAccessible('login-cancelled')
    await open('/account')
    expect(new URL(page.url()).pathname).toBe('/auth/login')
  })

  test('the second step takes a passkey in place of a code', async () => {
    await enrolled('eve@example.test')
    await withFactor('eve@example.test')
    await signIn('eve@example.test')
    await page.getByText('One more step').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement?.id')).toBe('code')
    await expectAccessible('two-factor')
    await press('Use a passkey instead')
    await isIn()
  })

  test('with an older sign-in, adding one needs the password', async () => {
    await createAccount('gil@example.test')
    await begin()
    await page.addInitScript('PublicKeyCredential.getClientCapabilities = async () => ({})')
    await signIn('gil@example.test')
    await isIn()
    await clock.advance('6m')
    await open('/account')
    const field = page.locator('#passkey-password')
    await field.fill('wrong')
    await press('Add a passkey')
    await page.locator('#passkeys').getByText('The password is wrong.').waitFor()
    await field.fill(password)
    await press('Add a passkey')
    await page.getByText('Passkey added.').waitFor()
  })

  test('an administrator confirms by passkey, and the forms of the page are back', async () => {
    await enrolled('admin@example.test')
    await open('/login')
    await press('Sign in with a passkey')
    await isIn()
    await clock.advance('11m')
    await open('/admin/device')
    await expectAccessible('admin-device-stale')
    await press('Confirm with a passkey')
    await page.getByLabel('Code from the terminal').waitFor()
  })

  test('after a sign-in by password, the page asks for a passkey in passing and leads on', async () => {
    await createAccount('hal@example.test')
    await begin()
    await withoutAutofill(page)
    // A browser without a password manager never answers a conditional request, so the authenticator gets an ordinary one.
    await page.addInitScript(`
      const create = navigator.credentials.create.bind(navigator.credentials)
      navigator.credentials.create = ({ mediation, ...options }) => {
        if (mediation !== 'conditional') throw new Error('not in passing')
        return create(options)
      }`)
    const visited: string[] = []
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname))
    await signIn('hal@example.test')
    await isIn()
    expect(visited).toContain('/auth/passkeys/new')
    await open('/account')
    expect([await passkeys().count(), (await phone.credentials()).length]).toEqual([1, 1])
  })

  test('a person registers without a password, and the page asks for a passkey once the mail is proved', async () => {
    await begin()
    await withoutAutofill(page)
    await open('/register?redirect=/home')
    await page.getByLabel('Email address').fill('joy@example.test')
    await expectAccessible('register')
    await press('Create account with a passkey')
    await page.getByText('Enter the code').waitFor()
    const mail = await mailbox.waitFor('joy@example.test')
    await enterCode(page, 'Code from the mail', mailbox.code(mail), 'Confirm')
    await page.getByText('There is no password to remember.').waitFor()
    await expectAccessible('passkey-new')
    await press('Add a passkey')
    await isIn()
    await context.clearCookies()
    await open('/login')
    await press('Sign in with a passkey')
    await isIn()
    // Nothing but the passkey signs in, so it also confirms what needs a recent sign-in.
    await clock.advance('6m')
    await open('/account')
    await expectAccessible('account-stale')
    await press('Confirm with a passkey')
    await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
  })

  test('a person registers without a password, opens the mailed link in a new tab, and adds a passkey there', async () => {
    await begin()
    await withoutAutofill(page)
    await open('/register')
    await page.getByLabel('Email address').fill('kim@example.test')
    await press('Create account with a passkey')
    await page.getByText('Enter the code').waitFor()
    const link = mailbox.link(await mailbox.waitFor('kim@example.test'))

    const elsewhere = await browser.newContext()
    const foreign = await elsewhere.newPage()
    await foreign.goto(link)
    await foreign.getByText('If you chose none, go on in the browser you registered with').waitFor()
    await elsewhere.close()

    await page.goto(link)
    await press('Confirm')
    await page.waitForURL((url) => url.pathname === '/auth/passkeys/new')
    await page.getByText('There is no password to remember.').waitFor()
    await press('Add a passkey')
    await isIn()
    expect(await phone.credentials()).toHaveLength(1)
    await context.clearCookies()
    await open('/login')
    await press('Sign in with a passkey')
    await isIn()
  })

  test('without a script nothing of it shows, and the pages are small', async () => {
    await createAccount('ida@example.test')
    await begin({ javaScriptEnabled: false })
    await open('/login')
    expect(await page.getByText('passkey').locator('visible=true').count()).toBe(0)
    await signIn('ida@example.test')
    await isIn()
    await open('/account')
    expect(await page.getByText('Passkeys').locator('visible=true').count()).toBe(0)
  })

  test('the sign-in page and all it loads weigh less than 30 kB', async () => {
    await begin()
    const sizes: number[] = []
    page.on('response', (response) => {
      void response.body().then((body) => sizes.push(gzipSync(body).byteLength))
    })
    await open('/login')
    await page.waitForLoadState('networkidle')
    expect(sizes.length).toBeGreaterThan(3)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(30_000)
  })
})
