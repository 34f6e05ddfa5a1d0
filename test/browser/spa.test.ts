import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codeInMailbox } from '../support/journey.js'
import { freePort, type Program, startProgram } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const password = 'a difference engine of brass'

describe.skipIf(isChromiumMissing())('the example on two sites in Chromium', () => {
  let program: Program
  let page: string
  let api: string
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]

  beforeAll(async () => {
    const [pagePort, apiPort] = [await freePort(), await freePort()]
    page = `http://localhost:${pagePort}`
    api = `http://127.0.0.1:${apiPort}`
    const env = { PAGE_PORT: String(pagePort), API_PORT: String(apiPort) }
    program = startProgram('node', ['examples/spa/index.js'], { cwd: root, env })
    await program.printed(/Open http/)
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await program?.stop()
  })

  beforeEach(async () => {
    laptop = await browser.newContext()
    faults = collectFaults(laptop)
  })

  afterEach(async () => {
    await laptop.close()
    expect(faults).toEqual([])
  })

  async function signedUp(email: string): Promise<Page> {
    const tab = await laptop.newPage()
    await tab.goto(page)
    await tab.getByLabel('Email').fill(email)
    await tab.getByLabel('Password').fill(password)
    await tab.getByRole('button', { name: 'Create account' }).click()
    await tab.getByLabel('Code from the mail').fill(await codeInMailbox(program, email))
    await tab.getByRole('button', { name: 'Confirm' }).click()
    await tab.getByText(`Signed in as ${email}`).waitFor()
    return tab
  }

  test('a visitor signs up, calls the API of the other site, comes back and signs out everywhere', async () => {
    const email = 'two-sites@example.com'
    const tab = await signedUp(email)
    await tab.getByRole('button', { name: 'Ask the API' }).click()
    await tab.getByText(JSON.stringify({ hello: email })).waitFor()
    await tab.reload()
    await tab.getByText(`Signed in as ${email}`).waitFor()

    const other = await laptop.newPage()
    await other.goto(page)
    await other.getByText(`Signed in as ${email}`).waitFor()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await tab.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  test('the cookies are Secure, SameSite=None, partitioned, and out of reach of the page', async () => {
    const tab = await signedUp('cookies@example.com')
    const cookies = await laptop.cookies(`${api}/auth`)
    expect(cookies.map(({ name }) => name).sort()).toEqual(['access-token', 'known-device', 'refresh-token'])
    for (const cookie of cookies) {
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'None' })
      expect(cookie).toMatchObject({ partitionKey: expect.stringContaining('localhost') })
    }
    expect(await tab.evaluate('document.cookie')).toBe('')
    expect(await tab.evaluate('JSON.stringify({ ...localStorage })')).not.toMatch(/eyJ|[Tt]oken|@/)
  })

  test('a call whose access token is gone refreshes across the sites', async () => {
    const tab = await signedUp('refresh@example.com')
    await laptop.clearCookies({ name: 'access-token' })
    const [refresh] = await Promise.all([
      tab.waitForResponse(`${api}/auth/refresh`),
      tab.getByRole('button', { name: 'Ask the API' }).click(),
    ])
    expect(refresh.status()).toBe(200)
    await tab.getByText('"hello":"refresh@example.com"').waitFor()
  })
})
