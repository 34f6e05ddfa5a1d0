import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import axe from 'axe-core'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { enterCode } from './code.js'

const password = 'a difference engine of brass'

describe.skipIf(isChromiumMissing())('our pages in Chromium', () => {
  let browser: Browser
  let server: Server
  let auth: Auth
  let clock: TestClock
  let mailbox: TestMailbox
  let address: string
  let context: BrowserContext
  let faults: string[]

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
      redirectLogoutUrl: '/auth/signed-out',
      baseAPIRoutes: '/home',
      limits: { login: plenty, mail: plenty, guess: plenty, other: plenty, refresh: plenty },
    })
    auth = init(app, settings, createTestRuntime({ clock }))
    app.get('/home', (request, response) => {
      response.type('html').send(`<!doctype html><title>Home</title><h1>Signed in as ${request.auth?.kind}</h1>`)
    })
    app.get('/round', (_request, response) => {
      response.clearCookie('access-token').redirect(303, '/auth/login?redirect=/round')
    })
    server = createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
  })

  async function begin(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    context = await browser.newContext(options)
    faults = collectFaults(context)
    return context.newPage()
  }

  beforeEach(() => {
    faults = []
  })

  afterEach(async () => {
    await context?.close()
    expect(faults).toEqual([])
  })

  const open = (page: Page, path: string) => page.goto(`${address}/auth${path}`)
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const isIn = (page: Page) => page.getByText('Signed in as session').waitFor()

  async function account(email: string): Promise<void> {
    await auth.users.create({ email, password, emailVerified: true })
  }

  async function withFactor(email: string): Promise<Factor> {
    await account(email)
    const client = createTestClient(address, { clock })
    await client.signIn({ email, password })
    return enrol(client, password, clock)
  }

  /** What Chromium keeps of a session goes by its own clock, so the cookies are taken away by hand. */
  async function signOut(): Promise<void> {
    await context.clearCookies()
  }

  test.each([
    ['without a script', false],
    ['with one', true],
  ])(
    '%s a person registers, confirms, leaves, comes back, forgets the password, and uses codes',
    async (_, scripted) => {
      const email = scripted ? 'scripted@example.test' : 'plain@example.test'
      const page = await begin({ javaScriptEnabled: scripted })

      // The guard turns the visitor away, and the wish survives all that follows.
      await page.goto(`${address}/home`)
      await page.getByRole('link', { name: 'Create an account' }).click()
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await press(page, 'Create account')
      await page.getByText('We have sent you a mail.').waitFor()
      const confirm = mailbox.code(await mailbox.waitFor(email, 'Confirm'))
      const spaced = `${confirm.slice(0, 3)}${scripted ? ' ' : ''}${confirm.slice(3)}`
      await enterCode(page, 'Code from the mail', spaced, 'Confirm')
      await isIn(page)
      expect(new URL(page.url()).pathname).toBe('/home')

      await signOut()
      await open(page, '/login')
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password', { exact: true }).fill('not the right one')
      await press(page, 'Sign in')
      await page.getByRole('alert').getByText('The email or the password is wrong.').waitFor()
      expect(await page.title()).toBe('Error: Sign in · Analytical Engines')
      expect(await page.getByLabel('Email address').inputValue()).toBe(scripted ? email : '')
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await press(page, 'Sign in')
      await isIn(page)

      await signOut()
      await open(page, '/login')
      await page.getByRole('link', { name: 'Forgot password?' }).click()
      await page.getByLabel('Email address').fill(email)
      await press(page, 'Send the link')
      await page.getByText('a mail with a link is on its way').waitFor()
      await page.goto(mailbox.link(await mailbox.waitFor(email, 'Choose a new password')))
      await page.getByLabel('New password').fill('password123')
      await press(page, 'Set the new password')
      await page.getByRole('alert').getByText('This password is too common.').waitFor()
      await page.getByLabel('New password').fill(`${password}, polished`)
      await press(page, 'Set the new password')
      await page.getByText('Your password is changed').waitFor()
      await page.getByRole('link', { name: 'Sign in' }).click()

      await page.getByRole('link', { name: 'Email me a sign-in code' }).click()
      await page.getByLabel('Email address').fill(email)
      await press(page, 'Send the code')
      await page.getByText('a mail with a code is on its way').waitFor()
      expect(await page.getByText(`Sent to: ${email}`).isVisible()).toBe(scripted)
      const code = mailbox.code(await mailbox.waitFor(email, 'Your code'))
      await enterCode(page, 'Code from the mail', code, 'Sign in')
      await isIn(page)
      expect(await page.evaluate('document.cookie')).toBe('')
    },
  )

  test.each([false, true])('the second step is asked for and passed (script: %s)', async (scripted) => {
    const email = scripted ? 'two@example.test' : 'two-plain@example.test'
    const factor = await withFactor(email)
    const page = await begin({ javaScriptEnabled: scripted })
    await open(page, '/login')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await press(page, 'Sign in')
    await enterCode(page, 'Code from your authenticator app', factor.wrongCode(), 'Sign in')
    await page.getByRole('alert').getByText('The code is wrong.').waitFor()
    await page.getByLabel('Code from your authenticator app').fill(factor.backupCodes[0] ?? '')
    await press(page, 'Sign in')
    await isIn(page)
  })

  test('by keyboard alone a person signs in, and hears of a mistake first', async () => {
    await account('keys@example.test')
    const page = await begin()
    await open(page, '/login')
    await page.keyboard.press('Tab')
    await page.keyboard.type('keys@example.test')
    await page.keyboard.press('Tab')
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('password')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-describedby")')).toBe('error')
    await page.keyboard.type(password)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Show password')
    await page.keyboard.press('Space')
    expect(await page.getByRole('textbox', { name: 'Password' }).inputValue()).toBe(password)
    expect(await page.getByRole('button', { name: 'Show password' }).getAttribute('aria-pressed')).toBe('true')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await isIn(page)
  })

  test('a new password is judged while it is typed, by the rules of the server', async () => {
    const page = await begin()
    await open(page, '/register')
    await page.getByLabel('Email address').fill('hinted@example.test')
    const field = page.getByLabel('Password', { exact: true })
    const said = page.locator('[aria-live]')
    await field.pressSequentially('short')
    await expect.poll(() => said.textContent()).toBe('Not long enough yet.')
    await field.fill('hinted is my name')
    await expect.poll(() => said.textContent()).toBe('It is too similar to your email address.')
    // Ten characters, twenty units: what counts is what the server counts.
    await field.fill('🦆🦆🦆🦆🦆🦆🦆🦆🦆')
    await expect.poll(() => said.textContent()).toBe('Not long enough yet.')
    await field.fill(password)
    await expect.poll(() => said.textContent()).toBe('Strong.')
    // Long enough for the server, and easy to guess all the same.
    for (const easy of ['1234567890', 'aaaaaaaaaaaaaaaa', 'password123']) {
      await field.fill(easy)
      await expect.poll(() => said.textContent(), { message: easy }).toBe('Easy to guess. Make it longer.')
    }
    await field.fill('')
    await expect.poll(() => said.textContent()).toBe('')
  })

  test('right to left, a password stays left to right while it is shown, and begins at the right edge', async () => {
    const page = await begin()
    await open(page, '/login')
    await page.evaluate("document.documentElement.dir = 'rtl'")
    const looks = `(({ direction, textAlign }) => [direction, textAlign])(getComputedStyle(document.getElementById('password')))`
    expect(await page.evaluate(looks)).toEqual(['ltr', 'right'])
    await press(page, 'Show password')
    expect(await page.locator('#password').getAttribute('type')).toBe('text')
    expect(await page.evaluate(looks)).toEqual(['ltr', 'right'])
  })

  test('the browser finds an icon: no request of a page is answered by 404', async () => {
    const page = await begin()
    const missing: string[] = []
    page.on('response', (response) => {
      if (response.status() === 404) missing.push(response.url())
    })
    await open(page, '/login')
    await page.waitForLoadState('networkidle')
    const icon = await page.locator('link[rel="icon"]').getAttribute('href')
    expect((await context.request.get(`${address}${icon}`)).status()).toBe(200)
    expect(missing).toEqual([])
  })

  test('a code has six boxes: pasting fills them and sends the form, and a backup code has a plain field', async () => {
    const factor = await withFactor('boxes@example.test')
    const page = await begin({ permissions: ['clipboard-read', 'clipboard-write'] })
    const arriveAtCode = async () => {
      await open(page, '/login')
      await page.getByLabel('Email address').fill('boxes@example.test')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await press(page, 'Sign in')
      await page.locator('.segments').waitFor()
    }
    await arriveAtCode()
    await page.evaluate(`navigator.clipboard.writeText(' ${factor.wrongCode()}\\n')`)
    await page.getByLabel('Code from your authenticator app').focus()
    await page.keyboard.press('Control+V')
    await page.getByRole('alert').getByText('The code is wrong.').waitFor()
    await page.getByLabel('Code from your authenticator app').pressSequentially('361')
    expect((await page.locator('.segments i').allTextContents()).join('')).toBe('361')
    await press(page, 'Use a backup code')
    expect(await page.locator('.segments').count()).toBe(0)
    await page.getByLabel('Code from your authenticator app').fill(factor.backupCodes[1] ?? '')
    await press(page, 'Sign in')
    await isIn(page)
  })

  test('the mail can be sent again after the wait that is shown, and after three mails once their window is over', async () => {
    await account('again@example.test')
    const page = await begin()
    const now = Math.floor(Date.now() / 1000)
    const keep = (mails: string) => page.evaluate(`sessionStorage.setItem('latchkey.mails.otp', '${mails}')`)
    const again = page.locator('form[data-wait] button')
    await open(page, '/otp')
    await page.getByLabel('Email address').fill('again@example.test')
    await press(page, 'Send the code')
    await again.getByText(/^Send it again in \d+ sec$/).waitFor()
    expect(await again.isDisabled()).toBe(true)
    // A minute later, after one mail; then after ten thousand, which is the limit of this application.
    await keep(`${now - 60} ${now - 60} 1`)
    await page.reload()
    await again.getByText('Send it again', { exact: true }).waitFor()
    await keep(`${now - 30} ${now - 30} 10000`)
    await page.reload()
    expect(await again.isDisabled()).toBe(true)
    await keep(`${now - 60} ${now - 60} 1`)
    await page.reload()
    const sent = () => mailbox.mails.filter(({ to }) => to === 'again@example.test').length
    await expect.poll(sent).toBe(1)
    await again.click()
    await again.getByText(/ in \d+ sec$/).waitFor()
    await expect.poll(sent).toBe(2)
    expect(await page.evaluate('sessionStorage.getItem("latchkey.mails.otp").split(" ")[2]')).toBe('2')
  })

  test('a form is sent once however often its button is pressed, and again after coming back', async () => {
    const page = await begin()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url())
    })
    await open(page, '/forgot')
    await page.getByLabel('Email address').fill('nobody@example.test')
    await page.evaluate('for (let i = 0; i < 3; i += 1) document.querySelector("form button").click()')
    await page.getByText('a mail with a link is on its way').waitFor()
    expect(sent).toHaveLength(1)
    await page.goBack()
    await expect.poll(() => page.getByRole('button', { name: 'Send the link' }).isEnabled()).toBe(true)
  })

  test('with a refresh token only a person is led on, by the script or by one click', async () => {
    await account('back@example.test')
    for (const javaScriptEnabled of [true, false]) {
      const page = await begin({ javaScriptEnabled })
      await open(page, '/login')
      await page.getByLabel('Email address').fill('back@example.test')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await press(page, 'Sign in')
      await isIn(page)
      await context.clearCookies({ name: 'access-token' })
      await page.goto(`${address}/home?tab=2`)
      if (!javaScriptEnabled) await press(page, 'Continue')
      await isIn(page)
      expect(new URL(page.url()).pathname).toBe('/home')
      if (javaScriptEnabled) await context.close()
    }
  })

  test('where leading on leads back here, it stops, and a person decides', async () => {
    await account('round@example.test')
    const page = await begin()
    await open(page, '/login')
    await page.getByLabel('Email address').fill('round@example.test')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await press(page, 'Sign in')
    await isIn(page)
    let refreshes = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/refresh')) refreshes += 1
    })
    await context.clearCookies({ name: 'access-token' })
    await open(page, '/login?redirect=/round')
    await expect.poll(() => refreshes).toBe(1)
    // Long enough to go round a few times.
    await page.waitForTimeout(1_000)
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    expect(refreshes).toBe(1)
    await press(page, 'Continue')
    await expect.poll(() => refreshes).toBe(2)
  })

  const pages = [
    '/docs',
    '/login',
    '/login?error=invalid_credentials',
    '/register?error=weak_password&reasons=too_short,common,similar_to_email',
    '/verify-email',
    '/verify-email?token=sample&error=invalid_credentials',
    '/otp',
    '/otp?token=sample',
    '/forgot',
    '/forgot?done=1',
    '/reset?token=sample',
    '/reset?done=1',
    '/two-factor',
    '/email-change?token=sample',
    '/email-change?done=1',
    '/email-undo?token=sample',
    '/email-undo?done=1',
    '/signed-out',
    '/error?error=store_unavailable&request=AAAAAAAAAAAA-1',
    '/nothing-here',
  ]

  // Any two of the choices meet.
  test.each([
    ['light', 1280, 'ltr'],
    ['dark', 360, 'rtl'],
  ] as const)(
    'in %s at %i px and %s axe finds nothing, nothing hangs over, and every target is large enough',
    async (colorScheme, width, direction) => {
      const page = await begin({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true })
      for (const path of [...pages, 'waiting for a code', 'waiting for a mail', 'second step', 'going on']) {
        await arrive(page, path)
        await page.evaluate(`document.documentElement.dir = '${direction}'`)
        await page.evaluate(axe.source)
        const found =
          await page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
        expect(found, path).toEqual([])
        expect(await overflows(page), path).toBe(false)
        expect(await page.evaluate(smallTargets), path).toEqual([])
        const folder = process.env.SCREENSHOTS
        const name = `${path.replace(/\W+/g, '-').slice(0, 40)}-${colorScheme}-${width}-${direction}.png`
        if (folder) await page.screenshot({ path: join(folder, name), fullPage: true })
      }
    },
    120_000,
  )

  async function arrive(page: Page, path: string): Promise<void> {
    if (path.startsWith('/')) {
      await open(page, path)
      for (const folded of await page.locator('.operation > summary').all()) await folded.click()
    } else if (path === 'waiting for a code') {
      await open(page, '/otp')
      await page.getByLabel('Email address').fill('nobody@example.test')
      await press(page, 'Send the code')
    } else if (path === 'waiting for a mail') {
      await open(page, '/register')
      await page.getByLabel('Email address').fill(`looks-${Math.floor(clock.now())}@example.test`)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await press(page, 'Create account')
    } else if (path === 'second step') {
      await page.context().addCookies([{ name: 'two-factor', value: 'sample', url: address }])
      await open(page, '/two-factor')
    } else {
      await page.context().addCookies([{ name: 'refresh-token', value: 'sample', url: `${address}/auth` }])
      await page.evaluate('sessionStorage.setItem("latchkey.sent", String(Date.now()))')
      await open(page, '/login?redirect=/home')
      await page.getByRole('button', { name: 'Continue' }).waitFor()
    }
  }
})

/** WCAG 2.2, 2.5.8 asks for 24 px; fingers for 44. Links in a line of text are let off. */
const smallTargets = `[...document.querySelectorAll('a, button, input:not([type=hidden])')]
  .map((element) => ({ element, box: element.getBoundingClientRect() }))
  .filter(({ element, box }) => box.height < (element.tagName === 'A' ? 32 : 44))
  .map(({ element, box }) => element.outerHTML + ' ' + box.height)`
