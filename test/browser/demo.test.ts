import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codeAt } from '../support/journey.js'
import { freePort, type Program, startProgram } from '../support/program.js'
import { totpCode } from '../support/totp.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { openNotes, password } from './notes-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe.skipIf(isChromiumMissing())('the demo in Chromium', () => {
  let folder: string
  let demo: Program
  let address: string
  let browser: Browser
  let laptop: BrowserContext
  let faults: string[]

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-browser-'))
    const port = await freePort()
    address = `http://localhost:${port}`
    const env = { PORT: String(port), DATA_FOLDER: folder }
    const noNetwork = new URL('../support/no-network.js', import.meta.url).href
    demo = startProgram('node', ['--import', noNetwork, 'examples/express/index.js'], { cwd: root, env })
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

  const open = (context: BrowserContext) => openNotes(context, address)

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
    // This cookie signs no user in. It tells failed sign-ins of this browser from those of other browsers.
    const left = await laptop.cookies(`${address}/auth`)
    expect(left.map(({ name }) => name)).toEqual(['known-device'])

    await visitor.signIn(email)
    await visitor.says('Feed the cat')
  })

  test('another browser than the one that registered is asked for the password', async () => {
    const email = 'on-the-phone@example.com'
    const registering = await open(laptop)
    await registering.register(email)
    await registering.says('We sent a mail to')

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
    await visitor.says('We sent a mail to')
    const inbox = await laptop.newPage()
    const link = inbox.locator('article', { hasText: 'own-tab@example.com' }).getByRole('link')
    await expect.poll(() => inbox.goto(`${address}/mailbox`).then(() => link.count())).toBe(1)
    const [tab] = await Promise.all([laptop.waitForEvent('page'), link.click()])
    await tab.locator('button[type=submit]').click()
    await tab.getByText('own-tab@example.com').waitFor()

    await page.reload()
    await visitor.says('own-tab@example.com')
  })

  test('a wrong password and a weak one are explained at the field', async () => {
    const { page, ...visitor } = await open(laptop)
    await visitor.signIn('unknown@example.com')
    await visitor.says('The email or the password is wrong.')
    const described = page.locator('#sign-in [aria-invalid=true]')
    expect(await described.getAttribute('aria-describedby')).toBe('sign-in-password-hint')
    await visitor.register('unknown@example.com', 'password123')
    await visitor.says(/stronger password.* common/)
    await visitor.register('not an address')
    await page.locator('#register-email-hint').filter({ hasText: '@' }).waitFor()
  })

  test('a session that another browser ends is over at the next call', async () => {
    const email = 'two-devices@example.com'
    const { page, ...visitor } = await open(laptop)
    await visitor.signUp(email)
    const phone = await browser.newContext()
    const away = await open(phone)
    await away.signIn(email)
    await away.says(email)

    expect(await page.evaluate("fetch('/auth/sessions', { method: 'DELETE' }).then(({ status }) => status)")).toBe(204)
    await away.tryNote('Too late')
    await away.signInButton.waitFor()
    await page.reload()
    await visitor.says(email)
    expect(await visitor.notes()).toEqual([])
    await phone.close()
  })

  test('a new user walks all seven steps', async () => {
    const email = 'walk@example.com'
    const { page, ...visitor } = await open(laptop)
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await press('Call it without a session')
    await visitor.says(/HTTP 401/)
    await look(page, '1-start')
    await visitor.register(email)
    await visitor.says('We sent a mail to')
    await look(page, '2-read-the-mail')
    await visitor.signIn(email)
    await visitor.says(/Confirm your email address first.*See step 2/)
    await page.getByLabel('Code of the mail').fill('000000')
    await press('Confirm')
    await visitor.says('This code is wrong, or it has expired.')
    await look(page, '3-wrong-code')
    await page.getByLabel('Code of the mail').fill(await codeAt(`${address}/mailbox`, email))
    await press('Confirm')
    await visitor.says(email)
    await visitor.addNote('Feed the cat')

    await page.locator('#two-factor-start').getByLabel('Your password').fill(password)
    await press('Set up two-factor')
    await page.locator('#two-factor-confirm').waitFor()
    const secret = (await page.locator('#secret').innerText()).replaceAll(' ', '')
    await look(page, '4-scan')
    const code = () => totpCode(secret, Date.now() + 30_000)
    await page.locator('#two-factor-confirm').getByLabel('Code of the app').fill(totpCode(secret, Date.now()))
    await press('Turn it on')
    await expect.poll(() => page.locator('#backup-codes li').count()).toBe(10)

    await press('Create token')
    await page.locator('#created').waitFor()
    const command = await page.locator('#curl').innerText()
    await promisify(execFile)('bash', ['-c', command])
    await press('Load again')
    await page.locator('#notes').getByText('Sent by curl').waitFor()
    for (const event of ['account created', 'two factor enabled', 'api token created']) {
      await page.locator('#audit').getByText(event, { exact: true }).waitFor()
    }
    await look(page, '5-signed-in')

    await press('Sign out')
    await visitor.signIn(email)
    await visitor.says('Your password is right.')
    await page.locator('#second-step').getByLabel('Code of the app').fill('000000')
    await press('Continue')
    await visitor.says('The code is wrong.')
    await look(page, '6-second-step')
    await page.locator('#second-step').getByLabel('Code of the app').fill(code())
    await press('Continue')
    await visitor.says('It is on.')
    await press('Remove')
    await visitor.says('The token curl is removed.')
    const refused = await promisify(execFile)('bash', ['-c', command])
    expect(refused.stdout).toContain('"code":"unauthenticated"')
  })

  test('signing out in one tab signs the other out too', async () => {
    const first = await open(laptop)
    await first.signUp('two-tabs@example.com')
    const second = await open(laptop)
    await second.page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await second.signInButton.waitFor()
    await first.signInButton.waitFor()
  })

  test('the mailbox opens only with its key, and the link on the page has it', async () => {
    const page = await laptop.newPage()
    const answer = await page.goto(`${address}/mailbox`)
    expect(answer?.status()).toBe(200)
    expect((await page.goto(page.url().replace(/key=.*/, 'key=guessed')))?.status()).toBe(404)
  })

  test('every link of the page leads to a page', async () => {
    const { page } = await open(laptop)
    const links: string[] = await page.evaluate("[...document.querySelectorAll('a')].map(({ href }) => href)")
    const statuses = await Promise.all(links.map(async (link) => [link, (await laptop.request.get(link)).status()]))
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([])
  })

  test('a long note fits a narrow screen', async () => {
    const { page, ...visitor } = await open(laptop)
    await visitor.signUp('long@example.com')
    await visitor.addNote('averylongwordthatdoesnotbreakanywhereonitsown'.repeat(4))
    await page.setViewportSize({ width: 360, height: 800 })
    expect(await overflows(page)).toBe(false)
  })
})

/** The page fits in both widths and colours, and axe finds nothing. With SCREENSHOTS naming a folder, pictures are kept. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (folder) await mkdir(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await axeFaults(page), `${name}, ${colorScheme}`).toEqual([])
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await overflows(page), `${name} at ${width} px`).toBe(false)
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), fullPage: true })
    }
  }
}
