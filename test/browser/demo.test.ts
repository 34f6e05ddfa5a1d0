import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort, type Program, startProgram } from '../support/program.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { openNotes, password } from './notes-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

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
    const env = { PORT: String(port), DATA_FOLDER: folder }
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

  const open = (context: BrowserContext) => openNotes(context, address, mailbox)

  test('a visitor registers, follows the link in the mail, writes a note, leaves and comes back', async () => {
    const email = 'visitor@example.com'
    const { page, ...visitor } = await open(laptop)
    await visitor.signUp(email)
    await visitor.addNote('Feed the cat')
    expect(await visitor.notes()).toEqual(['Feed the cat'])
    expect(await page.evaluate('document.cookie')).toBe('')

    await page.reload()
    await visitor.says('Feed the cat')
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await visitor.signInButton.waitFor()
    // What stays lets nobody in: it only tells this browser's failed sign-ins from a stranger's.
    const left = await laptop.cookies(`${address}/auth`)
    expect(left.map(({ name }) => name)).toEqual(['known-device'])

    await visitor.signIn(email)
    await visitor.says('Feed the cat')
  })

  test('another browser than the one that registered is asked for the password', async () => {
    const email = 'on-the-phone@example.com'
    const registering = await open(laptop)
    await registering.register(email)
    await registering.says('Nearly done')

    const phone = await browser.newContext()
    const { page, ...confirming } = await open(phone)
    await confirming.openMail(email)
    await page.locator('button[type=submit]').click()
    await page.locator('input[type=password]').fill(password)
    await page.locator('button[type=submit]').click()
    await confirming.says(email)
    await phone.close()
  })

  test('the link in the mail opens a tab of its own, and its button signs in', async () => {
    const { page, ...visitor } = await open(laptop)
    await visitor.register('own-tab@example.com')
    await visitor.says('Nearly done')
    const inbox = await laptop.newPage()
    const link = inbox.locator('article', { hasText: 'own-tab@example.com' }).getByRole('link')
    await expect.poll(() => inbox.goto(mailbox).then(() => link.count())).toBe(1)
    const [tab] = await Promise.all([laptop.waitForEvent('page'), link.click()])
    await tab.locator('button[type=submit]').click()
    await tab.getByText('own-tab@example.com').waitFor()

    await page.reload()
    await visitor.says('own-tab@example.com')
  })

  test('a wrong password and a weak one are explained in place', async () => {
    const visitor = await open(laptop)
    await visitor.signIn('nobody@example.com')
    await visitor.says('The email or the password is wrong.')
    await visitor.register('nobody@example.com', 'password123')
    await visitor.says(/stronger password.* common/)
  })

  test('a device that another one signs out is out at once', async () => {
    const email = 'two-devices@example.com'
    const { page, ...visitor } = await open(laptop)
    await visitor.signUp(email)
    const phone = await browser.newContext()
    const away = await open(phone)
    await away.signIn(email)
    await away.says('Welcome.')

    await page.reload()
    await page.getByRole('button', { name: 'Sign it out' }).click()
    await visitor.says('That device is signed out.')
    expect(await page.getByRole('button', { name: 'Sign it out' }).count()).toBe(0)

    await away.tryNote('Too late')
    await away.signInButton.waitFor()
    await page.reload()
    await visitor.says(email)
    expect(await visitor.notes()).toEqual([])
    await phone.close()
  })

  test('signing out in one tab signs the other out too', async () => {
    const first = await open(laptop)
    await first.signUp('two-tabs@example.com')
    const second = await open(laptop)
    await second.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await second.signInButton.waitFor()

    await first.tryNote('Too late')
    await first.signInButton.waitFor()
  })

  test('the mailbox opens only with its key', async () => {
    const page = await laptop.newPage()
    const answer = await page.goto(mailbox.replace(/key=.*/, 'key=guessed'))
    expect(answer?.status()).toBe(404)
  })

  test.each(['light', 'dark'] as const)('in %s colours every page fits a narrow and a wide screen', async (colours) => {
    const email = `${colours}@example.com`
    const { page, ...visitor } = await open(laptop)
    await page.emulateMedia({ colorScheme: colours })
    await fits(page, `${colours}-1-outside`)
    await visitor.register(email)
    await visitor.says('Nearly done')
    await fits(page, `${colours}-2-nearly-done`)
    await visitor.openMail(email)
    await fits(page, `${colours}-4-verify`)
    await page.goBack()
    await fits(page, `${colours}-3-mailbox`)
    await page.goForward()
    await page.locator('button[type=submit]').click()
    await visitor.addNote('averylongwordthatnobodywouldeverwritebutsomebodywillpaste'.repeat(3))
    const phone = await browser.newContext()
    const away = await open(phone)
    await away.signIn(email)
    await away.says('Welcome.')
    await phone.close()
    await page.reload()
    await visitor.says('Sign it out')
    await fits(page, `${colours}-5-inside`)

    await page.goto(`${address}/auth/verify-email?token=unknown`)
    await page.locator('input[type=password]').fill(password)
    await page.locator('button[type=submit]').click()
    await page.getByRole('alert').waitFor()
    await fits(page, `${colours}-6-not-valid`)
  })
})

/** With SCREENSHOTS naming a folder, what was looked at is left there. */
async function fits(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await mkdir(folder, { recursive: true })
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    expect(await overflows(page), `${name} at ${width} px`).toBe(false)
    if (folder) await page.screenshot({ path: join(folder, `${name}-${width}.png`), fullPage: true })
  }
}
