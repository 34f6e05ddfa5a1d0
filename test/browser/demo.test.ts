import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort, type Program, startProgram } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const password = 'a difference engine of brass'
/** Short, so that tokens expire while the tests look on. */
const accessTokenSeconds = 3
let account = 0

describe.skipIf(isChromiumMissing())('the demo in Chromium', () => {
  let folder: string
  let demo: Program
  let address: string
  let mailbox: string
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-browser-'))
    const port = await freePort()
    address = `http://localhost:${port}`
    const env = { PORT: String(port), DATA_FOLDER: folder, ACCESS_TOKEN_LIFETIME: `${accessTokenSeconds}s` }
    demo = startProgram('node', ['examples/express/index.js'], { cwd: root, env })
    mailbox = (await demo.printed(/http:\S+\/dev\/mailbox\?key=[\w-]+/))[0]
    await demo.printed(/Open http/)
    browser = await launchChromium()
  })

  afterAll(async () => {
    await browser?.close()
    await demo?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    laptop = await browser.newContext()
    faults = collectFaults(laptop)
  })

  afterEach(async () => {
    await laptop.close()
    expect(faults).toEqual([])
  })

  test('a visitor registers, follows the link in the mail, writes a note, leaves and comes back', async () => {
    const email = newEmail()
    const page = await laptop.newPage()
    await page.goto(address)
    await register(page, email)
    await page.getByText('Nearly done').waitFor()

    const confirmed = await confirm(await laptop.newPage(), email)
    await confirmed.getByText(email, { exact: true }).waitFor()
    await addNote(confirmed, 'Feed the cat')
    expect(await notes(confirmed)).toEqual(['Feed the cat'])
    expect(await confirmed.evaluate('document.cookie')).toBe('')

    await confirmed.reload()
    await confirmed.getByText('Feed the cat').waitFor()
    await confirmed.getByRole('button', { name: 'Sign out', exact: true }).click()
    await signInForm(confirmed).waitFor()
    expect(await laptop.cookies(`${address}/auth`)).toEqual([])

    await signIn(confirmed, email)
    await confirmed.getByText('Feed the cat').waitFor()
  })

  test('another browser than the one that registered is asked for the password', async () => {
    const email = newEmail()
    const page = await laptop.newPage()
    await page.goto(address)
    await register(page, email)
    await page.getByText('Nearly done').waitFor()

    const phone = await browser.newContext()
    const link = await openMail(await phone.newPage(), email)
    await link.locator('button[type=submit]').click()
    await link.locator('input[type=password]').fill(password)
    await link.locator('button[type=submit]').click()
    await link.getByText(email, { exact: true }).waitFor()
    await phone.close()
  })

  test('a wrong password and a weak one are explained in place', async () => {
    const page = await laptop.newPage()
    await page.goto(address)
    await signIn(page, newEmail(), 'not the password')
    await page.getByText('The email or the password is wrong.').waitFor()
    await register(page, newEmail(), 'password123')
    await page.getByText(/stronger password.* common/).waitFor()
  })

  test('two tabs whose token expired refresh at once, again and again, and neither is signed out', async () => {
    const email = newEmail()
    const first = await signedUp(laptop, email)
    const second = await laptop.newPage()
    await second.goto(address)
    await second.getByText(email, { exact: true }).waitFor()
    const refreshes: number[] = []
    laptop.on('response', (response) => {
      if (response.url() === `${address}/auth/refresh`) refreshes.push(response.status())
    })

    for (const round of ['one', 'two', 'three']) {
      await accessTokenGone()
      await Promise.all([addNote(first, `first ${round}`), addNote(second, `second ${round}`)])
    }

    expect(refreshes.length).toBeGreaterThanOrEqual(6)
    expect(new Set(refreshes)).toEqual(new Set([200]))
    await first.reload()
    await first.getByText('second three').waitFor()
    expect((await notes(first)).sort()).toEqual(
      ['first one', 'first three', 'first two', 'second one', 'second three', 'second two'].sort(),
    )
  })

  test('a device that another one signs out is out at once', async () => {
    const email = newEmail()
    const page = await signedUp(laptop, email)
    const phone = await browser.newContext()
    const away = await phone.newPage()
    await away.goto(address)
    await signIn(away, email)
    await away.getByText('Welcome.').waitFor()

    await page.reload()
    await page.getByRole('button', { name: 'Sign it out' }).click()
    await page.getByText('That device is signed out.').waitFor()
    expect(await page.getByRole('button', { name: 'Sign it out' }).count()).toBe(0)

    await away.getByLabel('New note').fill('Too late')
    await away.getByRole('button', { name: 'Add' }).click()
    await signInForm(away).waitFor()
    await page.reload()
    await page.getByText(email, { exact: true }).waitFor()
    expect(await notes(page)).toEqual([])
    await phone.close()
  })

  test('signing out in one tab signs the other out too', async () => {
    const first = await signedUp(laptop, newEmail())
    const second = await laptop.newPage()
    await second.goto(address)
    await second.getByRole('button', { name: 'Sign out', exact: true }).click()
    await signInForm(second).waitFor()

    await first.getByLabel('New note').fill('Too late')
    await first.getByRole('button', { name: 'Add' }).click()
    await signInForm(first).waitFor()
  })

  test('the mailbox opens only with its key', async () => {
    const page = await laptop.newPage()
    const answer = await page.goto(mailbox.replace(/key=.*/, 'key=guessed'))
    expect(answer?.status()).toBe(404)
  })

  test.each(['light', 'dark'] as const)(
    'every page fits a narrow screen and a wide one, in %s colours',
    async (colorScheme) => {
      const email = newEmail()
      const page = await laptop.newPage()
      await page.emulateMedia({ colorScheme })
      await page.goto(address)
      await fits(page, `${colorScheme}-outside`)
      await register(page, email)
      await page.getByText('Nearly done').waitFor()
      await page.goto(mailbox)
      await fits(page, `${colorScheme}-mailbox`)
      await openMail(page, email)
      await fits(page, `${colorScheme}-verify`)
      await page.locator('button[type=submit]').click()
      await addNote(page, 'A note with averylongwordthatnobodywouldeverwritebutsomebodywillpaste'.repeat(3))
      await fits(page, `${colorScheme}-inside`)
      await page.goto(`${address}/auth/verify-email?token=unknown`)
      await fits(page, `${colorScheme}-verify-unknown`)
    },
  )

  function signInForm(page: Page) {
    return page.getByRole('button', { name: 'Sign in', exact: true })
  }

  async function register(page: Page, email: string, secret = password): Promise<void> {
    const form = page.locator('#register')
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(secret)
    await form.getByRole('button').click()
  }

  async function signIn(page: Page, email: string, secret = password): Promise<void> {
    const form = page.locator('#sign-in')
    await form.getByLabel('Email').fill(email)
    await form.getByLabel('Password').fill(secret)
    await form.getByRole('button').click()
  }

  /** Goes to the page that the newest mail to that address links to; the mail may still be under way. */
  async function openMail(page: Page, email: string): Promise<Page> {
    const link = page.locator('article', { hasText: email }).locator('a[href*="/verify-email?token="]').first()
    await expect.poll(() => page.goto(mailbox).then(() => link.count()), { timeout: 10_000 }).toBe(1)
    await page.goto((await link.getAttribute('href')) ?? '')
    return page
  }

  async function confirm(page: Page, email: string): Promise<Page> {
    await openMail(page, email)
    await page.locator('button[type=submit]').click()
    return page
  }

  async function signedUp(context: BrowserContext, email: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(address)
    await register(page, email)
    await page.getByText('Nearly done').waitFor()
    await confirm(page, email)
    await page.getByText(email, { exact: true }).waitFor()
    return page
  }

  async function addNote(page: Page, text: string): Promise<void> {
    await page.getByLabel('New note').fill(text)
    await page.getByRole('button', { name: 'Add' }).click()
    await page.locator('#notes').getByText(text).waitFor()
  }

  function notes(page: Page): Promise<string[]> {
    return page.locator('#notes li').allTextContents()
  }

  function accessTokenGone(): Promise<unknown> {
    const names = async () => (await laptop.cookies(address)).map(({ name }) => name)
    return expect.poll(names, { timeout: accessTokenSeconds * 2_000 }).not.toContain('access-token')
  }

  /** With SCREENSHOTS set to a folder, what was looked at is left there. */
  async function fits(page: Page, name: string): Promise<void> {
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await overflows(page), `${name} at ${width} px`).toBe(false)
      const folder = process.env.SCREENSHOTS
      if (folder) await mkdir(folder, { recursive: true })
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true })
    }
  }
})

function newEmail(): string {
  account += 1
  return `visitor-${account}@example.com`
}
