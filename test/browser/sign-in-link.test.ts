import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, init, type LatchkeySettings } from '../../src/index.js'
import {
  createTestClock,
  createTestMailbox,
  createTestRuntime,
  type TestMailbox,
  testSettings,
} from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { enterCode } from './code.js'

/** Set to a folder, it gets a picture of each page. */
const pictures = process.env.LATCHKEY_TEST_PICTURES

describe.skipIf(isChromiumMissing())('a mailed link in Chromium', () => {
  let browser: Browser
  let close: (() => Promise<void>) | null = null
  let address: string
  let mailbox: TestMailbox
  let contexts: BrowserContext[] = []
  let faults: string[][] = []

  beforeAll(async () => {
    browser = await launchChromium()
  })

  afterAll(() => browser?.close())

  afterEach(async () => {
    for (const context of contexts) await context.close()
    await close?.()
    expect(faults.flat()).toEqual([])
    ;[contexts, faults, close] = [[], [], null]
  })

  async function serve(otp: LatchkeySettings['otp'], locale = 'en'): Promise<void> {
    const port = await freePort()
    address = `http://localhost:${port}`
    mailbox = createTestMailbox()
    const app = express()
    const brand = { name: 'Analytical Engines' }
    const limits = { mail: { ip: '10000/1m', account: '100/15m' } }
    const settings = testSettings({
      baseUrl: address,
      mailbox,
      brand,
      redirectSuccessUrl: '/home',
      otp,
      locale,
      limits,
    })
    const auth = init(app, settings, createTestRuntime({ clock: createTestClock(Date.now()) }))
    app.get('/home', (_request, response) => {
      response.type('html').send('<!doctype html><title>Home</title><h1>Signed in</h1>')
    })
    const server = createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
    close = () => closeBoth(server, auth)
    await auth.users.create({ email: 'ada@example.test', emailVerified: true })
  }

  /** Another browser, or another program on the same device: it shares no cookies. */
  async function jar(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext({ bypassCSP: true, ...options })
    contexts.push(context)
    faults.push(collectFaults(context))
    return context.newPage()
  }

  /** The owner asks, and waits on the page. */
  async function ask(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ page: Page; link: string; mail: string }> {
    const page = await jar(options)
    await page.goto(`${address}/auth/otp`)
    await page.locator('#email').fill('ada@example.test')
    await page.locator('form[action="/auth/otp"] button').click()
    await page.waitForURL(`${address}/auth/otp`)
    const mail = await mailbox.waitFor('ada@example.test')
    return { page, link: mailbox.link(mail), mail: mail.text }
  }

  async function expectAccessible(page: Page, name: string): Promise<void> {
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await axeFaults(page), `${name} at ${width}`).toEqual([])
      expect(await overflows(page), `${name} at ${width}`).toBe(false)
      if (pictures) await page.screenshot({ path: join(pictures, `${name}-${width}.png`), fullPage: true })
    }
  }

  /** Opens the link with scripts, waits for them, and then presses every button and follows every link of the page. */
  async function scan(link: string): Promise<void> {
    const page = await jar({ userAgent: 'Mozilla/5.0 (compatible; MailScanner)' })
    await page.goto(link, { waitUntil: 'networkidle' })
    const count = await page.locator('button, a[href]').count()
    expect(count).toBeGreaterThan(0)
    for (let nth = 0; nth < count; nth += 1) {
      await page.goto(link, { waitUntil: 'networkidle' })
      await page.locator('button, a[href]').nth(nth).click()
      await page.waitForLoadState('networkidle')
    }
    // And it posts the form that the owner sees.
    await page.goto(link)
    const token = new URL(link).searchParams.get('token')
    await page.evaluate(`{
      const form = Object.assign(document.createElement('form'), { method: 'post', action: '/auth/otp/verify' })
      form.append(Object.assign(document.createElement('input'), { name: 'token', value: ${JSON.stringify(token)} }))
      document.body.append(form)
      form.submit()
    }`)
    await page.getByRole('alert').getByText('This link is no longer valid.').waitFor()
    const cookies = (await page.context().cookies()).map(({ name }) => name)
    expect(cookies.filter((name) => /access|refresh|otp/.test(name))).toEqual([])
  }

  test.each(['link', 'code'] as const)(
    'ATK-033 after a scanner that runs scripts and presses every button, the owner signs in by the %s',
    async (way) => {
      await serve({})
      const { page, link } = await ask()
      await scan(link)
      if (way === 'link') {
        const tab = await page.context().newPage()
        await tab.goto(link)
        await expectAccessible(tab, 'link-own')
        await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
        await tab.waitForURL(`${address}/home`)
        return
      }
      const elsewhere = await jar()
      await elsewhere.goto(link)
      const code = (await elsewhere.locator('.shown-code').textContent()) ?? ''
      expect(code).toMatch(/^\d{6}$/)
      await enterCode(page, 'Code from the mail', code, 'Sign in')
      await page.waitForURL(`${address}/home`)
    },
  )

  test.each(['en', 'de', 'es', 'fr', 'no', 'ja'])('in another browser the page can be used, in %s', async (locale) => {
    await serve({}, locale)
    const { page, link, mail } = await ask()
    await expectAccessible(page, `waiting-both-${locale}`)
    for (const [name, options] of [
      ['light', {}],
      ['dark', { colorScheme: 'dark' }],
    ] as const) {
      const elsewhere = await jar(options)
      await elsewhere.goto(link)
      expect(mail).toContain(await elsewhere.locator('.shown-code').textContent())
      await expectAccessible(elsewhere, `elsewhere-code-${name}-${locale}`)
    }
  })

  test.each(['en', 'de', 'es', 'fr', 'no', 'ja'])(
    'with the link alone, every page says where it belongs, in %s',
    async (locale) => {
      await serve({ mail: 'link' }, locale)
      const { page, link } = await ask()
      await expectAccessible(page, `waiting-link-${locale}`)
      expect(await page.locator('input.code').count()).toBe(0)
      const elsewhere = await jar()
      await elsewhere.goto(`${address}/auth/otp`)
      await expectAccessible(elsewhere, `asking-link-${locale}`)
      await elsewhere.goto(link)
      await expectAccessible(elsewhere, `elsewhere-link-${locale}`)
      expect(await elsewhere.locator('.shown-code').count()).toBe(0)
      await page.goto(link)
      await page.locator('button').click()
      await page.waitForURL(`${address}/home`)
    },
  )

  test('a sign-in code of six digits and one of eight are typed to the end, without a form that sends itself', async () => {
    await serve({})
    for (const [digits, requests] of [
      [6, 1],
      [8, 5],
    ] as const) {
      // Without a success, the fifth code of an hour is longer.
      for (let nth = 1; nth < requests; nth += 1) await ask()
      const { page } = await ask()
      const received = mailbox.latest('ada@example.test')
      const code = received ? mailbox.code(received) : ''
      expect(code).toHaveLength(digits)
      const field = page.getByLabel('Code from the mail')
      await field.pressSequentially(code)
      expect(await field.inputValue()).toBe(code)
      await expectAccessible(page, `typed-${digits}`)
      await field.press('Enter')
      await page.waitForURL(`${address}/home`)
    }
  })

  test.each([6, 8])('a code that confirms an address has %i boxes where it has as many digits', async (length) => {
    await serve({ length })
    const page = await jar()
    await page.goto(`${address}/auth/register`)
    await page.getByLabel('Email address').fill('grace@example.test')
    await page.getByLabel('Password', { exact: true }).fill('a difference engine of brass')
    await page.getByRole('button', { name: 'Create account', exact: true }).click()
    const code = mailbox.code(await mailbox.waitFor('grace@example.test'))
    expect(code).toHaveLength(length)
    await page.locator('.segments').waitFor()
    const field = page.getByLabel('Code from the mail')
    await field.pressSequentially(code.slice(0, -1))
    expect((await page.locator('.segments i').allTextContents()).join('')).toBe(code.slice(0, -1))
    expect(await page.locator('.segments i').count()).toBe(length)
    await expectAccessible(page, `boxes-${length}`)
    await field.pressSequentially(code.slice(-1))
    await page.waitForURL(`${address}/home`)
  })

  test('without a script, the link signs in where it was asked for and shows its code elsewhere', async () => {
    await serve({})
    const { page, link, mail } = await ask({ javaScriptEnabled: false })
    const elsewhere = await jar({ javaScriptEnabled: false })
    await elsewhere.goto(link)
    expect(mail).toContain(await elsewhere.locator('.shown-code').textContent())
    await page.goto(link)
    await page.locator('button').click()
    await page.waitForURL(`${address}/home`)
  })
})

async function closeBoth(server: Server, auth: Auth): Promise<void> {
  server.closeAllConnections()
  server.close()
  await auth.close()
}
