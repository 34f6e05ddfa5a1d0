import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import express from 'express'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, init } from '../../src/index.js'
import {
  createTestClient,
  createTestClock,
  createTestRuntime,
  type TestClock,
  testSettings,
} from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { impersonatePath, reason } from '../support/impersonation.js'
import { freePort } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'

const admin = { emails: ['admin@example.test'], impersonation: {} }

describe.skipIf(isChromiumMissing())('the banner on a page of the application', () => {
  let browser: Browser
  let context: BrowserContext
  let faults: string[]
  let server: Server
  let auth: Auth
  let address: string
  let clock: TestClock

  beforeAll(async () => {
    browser = await launchChromium()
    const port = await freePort()
    address = `http://localhost:${port}`
    const app = express()
    // Chromium's clock is the real one.
    clock = createTestClock(Date.now())
    auth = init(app, testSettings({ baseUrl: address, admin }), createTestRuntime({ clock }))
    app.get('/', (_request, response) => {
      response.type('html').send('<main>Notes</main><script src="/auth/assets/impersonation.js" defer></script>')
    })
    server = createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
    await auth.ready()
  })

  afterEach(() => context.close())

  afterAll(async () => {
    await browser?.close()
    server?.close()
    await auth?.close()
  })

  test('names the user as text, also when the access token has expired, and stops', async () => {
    const administrator = { email: 'admin@example.test', password: ada.password }
    await auth.users.create({ ...administrator, emailVerified: true })
    // `$&` would stand for the placeholder if it were not replaced as text.
    const { id, email } = await auth.users.create({ email: "o'$&@example.test", emailVerified: true })
    const client = createTestClient(address, { headers: { origin: address } })
    await client.signIn(administrator)
    context = await browser.newContext()
    faults = collectFaults(context)
    const page = await context.newPage()
    await page.goto(address)
    expect(await page.getByRole('status').count()).toBe(0)

    expect((await client.post(impersonatePath(id), { reason })).status).toBe(200)
    const cookies = client.cookies.all().map(({ name, value, path }) => ({ name, value, path, domain: 'localhost' }))
    await context.addCookies(cookies)
    await clock.advance('16m')
    await page.reload()
    const banner = page.getByRole('status')
    await banner.waitFor()
    expect(await banner.textContent()).toBe(`You are acting as ${email}. Stop acting`)
    await banner.getByRole('button').click()
    await page.waitForURL('**/auth/login')
    expect((await auth.audit.list({ event: 'impersonation_stopped' })).items).toHaveLength(1)
    expect(faults).toEqual([])
  })
})
