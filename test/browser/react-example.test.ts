import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestClient } from '../../src/testing.js'
import { codeInMailbox } from '../support/journey.js'
import { freePort, type Program, startProgram } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium } from './chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const password = 'a difference engine of brass'

describe.skipIf(isChromiumMissing())('the example with React in Chromium', () => {
  let program: Program
  let address: string
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]

  beforeAll(async () => {
    const port = await freePort()
    address = `http://localhost:${port}`
    const noNetwork = new URL('../support/no-network.js', import.meta.url).href
    const env = { PORT: String(port) }
    program = startProgram('node', ['--import', noNetwork, 'examples/react/index.js'], { cwd: root, env })
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

  async function createAccount(email: string): Promise<void> {
    const client = createTestClient(address)
    await client.post('/auth/register', { email, password })
    const code = await codeInMailbox(program, email)
    expect((await client.post('/auth/verify-email', { email, code, password })).status).toBe(200)
  }

  /** Follows the link of the page and comes back from the built-in sign-in page. */
  async function signIn(page: Page, email: string): Promise<void> {
    await page.goto(address)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.locator('input[type=email]').fill(email)
    await page.locator('input[type=password]').fill(password)
    await page.locator('input[type=password]').press('Enter')
    await page.getByText(`Signed in as ${email}.`).waitFor()
  }

  test('a user signs in on the built-in page, calls the API and signs out in every tab', async () => {
    await createAccount('grace@example.com')
    const page = await laptop.newPage()
    await signIn(page, 'grace@example.com')
    await page.getByRole('button', { name: 'Call the API' }).click()
    await page.getByText('{"hello":"grace@example.com"}').waitFor()
    await page.getByText('Only ada@example.com sees').waitFor()

    const other = await laptop.newPage()
    await other.goto(address)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
  })

  test('the part for administrators is there for ada@example.com', async () => {
    await createAccount('ada@example.com')
    const page = await laptop.newPage()
    await signIn(page, 'ada@example.com')
    await page.getByRole('button', { name: 'List users' }).click()
    await page.getByText('"ada@example.com"').waitFor()
  })
})
