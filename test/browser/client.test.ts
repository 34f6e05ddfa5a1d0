import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import express from 'express'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import { createTestClock, createTestRuntime, type TestClock, testSettings } from '../../src/testing.js'
import { freePort } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'
import { clientModule, clientPage, run } from './tabs-page.js'

const password = 'a difference engine of brass'

describe.skipIf(isChromiumMissing())('the client in Chromium', () => {
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]
  let server: Server
  let auth: Auth
  let clock: TestClock
  let address: string
  /** Answers to POST /auth/refresh, as the server gave them. */
  let refreshed: number[]
  /** How many were under way at once, at most. */
  let together: number

  beforeAll(async () => {
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    // Chromium's clock is the real one.
    clock = createTestClock(Date.now())
    const app = express()
    const settings = testSettings({ baseUrl: address, registration: { emailVerification: 'optional' } })
    auth = init(app, settings, createTestRuntime({ clock }))
    const module = await clientModule()
    app.get('/', (_request, response) => void response.type('html').send(clientPage))
    app.get('/client.js', (_request, response) => void response.type('js').send(module))
    app.all('/api/notes', (_request, response) => void response.json([]))
    let underWay = 0
    server = createServer((request, response) => {
      if (request.url === '/auth/refresh') {
        underWay += 1
        together = Math.max(together, underWay)
        response.on('finish', () => {
          underWay -= 1
          refreshed.push(response.statusCode)
        })
      }
      app(request, response)
    }).listen(port, 'localhost')
    await once(server, 'listening')
  })

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
  })

  beforeEach(async () => {
    refreshed = []
    together = 0
    laptop = await browser.newContext()
    faults = collectFaults(laptop)
  })

  afterEach(async () => {
    await laptop.close()
    expect(faults).toEqual([])
  })

  async function open(search = ''): Promise<Page> {
    const page = await laptop.newPage()
    await page.goto(`${address}/${search}`)
    await page.waitForFunction('globalThis.auth')
    return page
  }

  const signUp = (page: Page, email: string) => run(page, `auth.signUp(${JSON.stringify({ email, password })})`)
  const email = (page: Page) => run(page, 'auth.session.get()?.user.email ?? null')
  const call = (page: Page) => run<number>(page, "auth.fetch('/api/notes').then((answer) => answer.status)")

  /** Three rounds of five tabs whose token has expired, and what the server said to their refreshes. */
  async function fiveTabsAtOnce(search: string): Promise<number[][]> {
    const tabs: Page[] = []
    for (let index = 0; index < 5; index += 1) tabs.push(await open(search))
    const [first] = tabs
    if (!first) throw new Error('no tab')
    expect(await run(first, 'Boolean(navigator.locks)')).toBe(search === '')
    await signUp(first, `five-tabs${search.slice(1)}@example.com`)

    const rounds: number[][] = []
    for (let round = 0; round < 3; round += 1) {
      await clock.advance('16m')
      const statuses = await Promise.all(
        tabs.map((tab) =>
          run<number[]>(
            tab,
            `Promise.all([1, 2, 3].map(() =>
        auth.fetch('/api/notes', { method: 'POST' }).then((answer) => answer.status)))`,
          ),
        ),
      )
      expect(statuses.flat()).toEqual(Array.from({ length: 15 }, () => 200))
      rounds.push(refreshed.splice(0))
    }
    return rounds
  }

  // How soon a tab sees what another one wrote into the storage is Chromium's and the machine's matter: on a busy one a second
  // tab takes a turn. That it is one where they see it at once is tested without a browser.
  test('five tabs whose token expired call at once: one refresh at a time, fewer than tabs, and all are answered', async () => {
    for (const answers of await fiveTabsAtOnce('')) {
      expect([1, 2, 3, 4]).toContain(answers.length)
      expect(new Set(answers)).toEqual(new Set([200]))
    }
    expect(together).toBe(1)
  })

  test('without Web Locks five tabs at once are all answered, after five refreshes at most, none of them refused', async () => {
    for (const answers of await fiveTabsAtOnce('?nolocks')) {
      expect([1, 2, 3, 4, 5]).toContain(answers.length)
      expect(new Set(answers)).toEqual(new Set([200]))
    }
  })

  test('signing in, changing and signing out in one tab shows in the others', async () => {
    const first = await open()
    const second = await open()
    await run(second, 'auth.session.load()')
    await signUp(first, 'two-tabs@example.com')
    await expect.poll(() => email(second)).toBe('two-tabs@example.com')
    await run(first, "auth.patch('/me', { name: 'Ada' })")
    await expect.poll(() => run(second, 'auth.session.get()?.user.name')).toBe('Ada')

    await run(first, 'auth.signOut()')
    await expect.poll(() => run(second, '[auth.session.get(), ended]')).toEqual([null, 1])
    expect(await call(second)).toBe(401)
  })

  test('a tab that was elsewhere meanwhile knows what happened when it comes back', async () => {
    const first = await open()
    await signUp(first, 'away@example.com')
    const second = await open()
    await run(second, 'auth.session.load()')
    await second.goto('about:blank')
    await run(first, 'auth.signOut()')
    await second.goBack()
    await second.waitForFunction('globalThis.auth')
    await expect.poll(() => run(second, 'auth.session.load()')).toBeNull()
  })

  test('offline nobody is signed out, and the next call after it goes through', async () => {
    const page = await open()
    await signUp(page, 'tunnel@example.com')
    await clock.advance('16m')
    await laptop.setOffline(true)
    expect(await run(page, "auth.fetch('/api/notes').catch((error) => error.name)")).toBe('TypeError')
    expect(await run(page, 'auth.session.refresh().catch((error) => error.code)')).toBe('network_error')
    await laptop.setOffline(false)
    expect(await email(page)).toBe('tunnel@example.com')
    await expect.poll(() => run(page, "auth.fetch('/api/notes').then((answer) => answer.status, String)")).toBe(200)
  })

  test('ATK-082 no script finds a token: not in a cookie, the storage, the client or an answer', async () => {
    const page = await open()
    await signUp(page, 'script@example.com')
    await clock.advance('16m')
    const found = await run(
      page,
      `(async () => {
      const answers = [await auth.session.refresh(), await auth.session.load(), auth.session.get()]
      return JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, answers, location.href])
    })()`,
    )
    expect(found).toContain('script@example.com')
    expect(found).not.toMatch(/eyJ|[Tt]oken/)
    expect(await run(page, 'JSON.stringify({ ...localStorage })')).not.toMatch(/eyJ|[Tt]oken|@/)
  })
})
