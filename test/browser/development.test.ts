import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import { createTestClient, createTestClock, createTestRuntime, testSettings } from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'

const looks = [
  ['in light at 1280 px', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
  ['in dark at 360 px', { colorScheme: 'dark', viewport: { width: 360, height: 740 } }],
] as const

describe.skipIf(isChromiumMissing())('the pages of development in Chromium', () => {
  let browser: Browser
  let context: BrowserContext
  let faults: string[]
  let server: Server
  let auth: Auth
  let address: string
  let mailboxUrl: string

  beforeAll(async () => {
    const printed: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line) => void printed.push(String(line)))
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    const app = express()
    // Without mail settings, mails stay in the mailbox.
    const { mail: _none, ...settings } = testSettings({ baseUrl: address, brand: { name: 'Notes' } })
    // Chromium's clock is the real one.
    auth = init(app, settings, createTestRuntime({ clock: createTestClock(Date.now()) }))
    server = createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
    await auth.ready()
    mailboxUrl = /http:\S+mailbox\?key=[\w-]+/.exec(printed.join('\n'))?.[0] ?? ''
  })

  afterEach(async () => {
    await context.close()
    expect(faults).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
    vi.restoreAllMocks()
  })

  async function begin(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    context = await browser.newContext({ bypassCSP: true, ...options })
    faults = collectFaults(context)
    return context.newPage()
  }

  const register = (email: string) =>
    createTestClient(address).post('/auth/register', { email, password: 'a difference engine of brass' })

  test('the mailbox shows a new mail by itself, and keeps the mail that is open', async () => {
    const page = await begin()
    await page.goto(mailboxUrl)
    await page.getByText('No mail yet.').waitFor()
    // The page asks every three seconds. A clock of the test's own would run as a script in the
    // sandboxed frame of the open mail, which Chromium refuses with an error in the console.
    const shows = (count: number) =>
      expect.poll(() => page.locator('.mails li').count(), { timeout: 15_000 }).toBe(count)

    await register('first@example.test')
    await shows(1)
    await page.getByText('first@example.test').first().waitFor()
    await page.getByRole('link', { name: /Confirm your email address for Notes/ }).click()
    await page.getByText('As a mail program shows it').waitFor()

    await register('second@example.test')
    await shows(2)
    expect(await page.locator('.mails li').first().textContent()).toContain('second@example.test')
    expect(await page.locator('.mail dd').first().textContent()).toBe('first@example.test')
  })

  test.each(looks)('axe finds nothing in the mailbox and its samples, %s', async (_, options) => {
    const page = await begin(options)
    await register('looks@example.test')
    const arrived = async () => (await (await fetch(mailboxUrl)).text()).includes('looks@example.test')
    await expect.poll(arrived).toBe(true)
    for (const url of [mailboxUrl, `${mailboxUrl}&samples`]) {
      await page.goto(url)
      await page.locator('.mails li a').first().click()
      await page.locator('.mail iframe').waitFor()
      for (const direction of ['ltr', 'rtl']) {
        await page.evaluate(`document.documentElement.dir = '${direction}'`)
        expect(await axeFaults(page)).toEqual([])
        expect(await overflows(page)).toBe(false)
      }
    }
  })

  test('the search of the API reference leaves the routes with all of its words', async () => {
    const page = await begin()
    await page.goto(`${address}/auth/docs`)
    const routes = page.locator('.operation:visible')
    const all = await routes.count()
    const search = page.getByRole('searchbox', { name: 'Search' })
    await search.fill('password FORGOT')
    await expect.poll(() => routes.locator('summary code').allTextContents()).toEqual(['/auth/password/forgot'])
    expect(await page.locator('.group:visible').count()).toBe(1)

    await search.fill('no route has these words')
    await page.getByRole('status').getByText('No route matches.').waitFor()
    expect(await routes.count()).toBe(0)
    await search.fill('')
    await expect.poll(() => routes.count()).toBe(all)
    expect(await page.getByText('No route matches.').isVisible()).toBe(false)
  })
})
