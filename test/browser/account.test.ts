import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AttackServer, ada, attackServer } from '../support/attack-server.js'
import { totpCode } from '../support/totp.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'
import { enterCode } from './code.js'

const ways = [
  ['without scripts', false],
  ['with scripts', true],
] as const

describe.skipIf(isChromiumMissing())('the account page in Chromium', () => {
  let server: AttackServer
  let browser: Browser
  let faults: string[]
  let context: BrowserContext

  beforeAll(async () => {
    browser = await launchChromium()
  })

  afterAll(() => browser?.close())

  beforeEach(async () => {
    // Chromium's clock is the real one.
    server = await attackServer({ startAt: Date.now(), file: true })
    await server.auth.users.create({ ...ada, name: 'Ada', emailVerified: true })
  })

  afterEach(async () => {
    await context.close()
    await server.close()
    expect(faults).toEqual([])
  })

  /** A browser that is signed in, and its account page. */
  async function signedIn(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    context = await browser.newContext(options)
    faults = collectFaults(context)
    const headers = { origin: server.url }
    const answer = await context.request.post(`${server.url}/auth/login`, { data: ada, headers })
    expect(answer.status()).toBe(200)
    const page = await context.newPage()
    await page.goto(`${server.url}/auth/account`)
    return page
  }

  const says = (page: Page, text: string) => page.getByText(text).first().waitFor()
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  /** Opens the row of that label. */
  const unfold = (page: Page, name: string) => page.locator('summary', { hasText: name }).first().click()

  /** Sets two-factor up from the account page on; the secret. */
  async function setUp(page: Page): Promise<string> {
    await page.getByRole('link', { name: 'Set up', exact: true }).click()
    await page.getByLabel('Password', { exact: true }).fill(ada.password)
    await press(page, 'Continue')
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
    expect(new URL(page.url()).search).toBe('')
    await enterCode(
      page,
      'Code from your authenticator app',
      totpCode(secret, server.runtime.clock.now()),
      'Turn it on',
    )
    await says(page, 'Two-factor authentication is on.')
    return secret
  }

  test.each(ways)('everything on it is done by forms, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    await unfold(page, 'Name')
    await page.getByLabel('Name').fill('Ada Lovelace')
    await press(page, 'Save')
    await says(page, 'Saved.')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada Lovelace')

    await unfold(page, 'Password')
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password').fill('another long password')
    await press(page, 'Change password')
    await says(page, 'The password is wrong.')
    await page.getByLabel('Current password').fill(ada.password)
    await page.getByLabel('New password').fill('another long password')
    await press(page, 'Change password')
    await says(page, 'Your password is changed')
    const phone = server.client()
    await phone.signIn({ ...ada, password: 'another long password' })

    await unfold(page, 'Email address')
    await page.getByLabel('New email address').fill('lovelace@example.test')
    await page.locator('#email-password').fill('another long password')
    await press(page, 'Send the link')
    await says(page, 'A mail with a link is on its way')

    await press(page, 'Sign out everywhere else')
    await says(page, 'You are signed out everywhere else.')
    expect((await phone.get('/auth/me')).status).toBe(401)

    await unfold(page, 'Delete…')
    await page.locator('#delete-password').fill('another long password')
    await press(page, 'Delete my account for good')
    await says(page, 'Your account is deleted')
    expect(page.url()).toBe(`${server.url}/auth/signed-out?deleted=1`)
    expect(await context.cookies()).toEqual([])
  })

  test.each(ways)('two-factor is set up, used and turned off, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    const secret = await setUp(page)
    expect(await page.locator('.codes li').count()).toBe(10)
    await page.getByRole('link', { name: 'I have kept them' }).click()
    await page.waitForURL(/\/auth\/account#two-factor$/)

    await server.runtime.clock.advance('30s')
    await unfold(page, 'Backup codes')
    await page.locator('#codes-password').fill(ada.password)
    await page.locator('#codes-code').fill(totpCode(secret, server.runtime.clock.now()))
    await press(page, 'Make new backup codes')
    const [code = ''] = await page.locator('.codes li').allTextContents()
    await page.getByRole('link', { name: 'I have kept them' }).click()
    await says(page, '10 of 10 left')

    await unfold(page, 'Turn off')
    await page.locator('#off-password').fill(ada.password)
    await page.locator('#off-code').fill(code)
    await press(page, 'Turn two-factor authentication off')
    await says(page, 'Two-factor authentication is off')
    await page.getByRole('link', { name: 'Set up', exact: true }).waitFor()
  })

  test.each(ways)('whoever has no password signs in again to set one, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    server.sql('update latchkey_users set password_hash = null')
    await server.runtime.clock.advance('6m')
    await page.reload()
    await page.locator('#password').getByRole('button', { name: 'Sign in again' }).click()
    await page.waitForURL(/\/auth\/login\?redirect=/)
    expect(new URL(page.url()).searchParams.get('redirect')).toBe('/auth/account#password')
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['known-device'])
  })

  test.each(ways)('a form that came too late is told of after going on, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    await server.runtime.clock.advance('16m')
    await unfold(page, 'Name')
    await page.getByLabel('Name').fill('Too late')
    await press(page, 'Save')
    if (!javaScriptEnabled) await press(page, 'Continue')
    await says(page, 'This was not done, because you were signed out meanwhile.')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada')
  })

  test('is used by the keyboard alone, and what went wrong has the focus', async () => {
    const page = await signedIn()
    await page.locator('summary', { hasText: 'Password' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    // Over the button that shows what was typed.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('another long password')
    await page.keyboard.press('Enter')
    await says(page, 'The password is wrong.')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('current-password')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-describedby")')).toBe('error')
  })

  test('backup codes are copied and downloaded by buttons that only scripts make', async () => {
    const page = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    await setUp(page)
    const saved = page.waitForEvent('download')
    await press(page, 'Download')
    const file = await saved
    expect(file.suggestedFilename()).toBe('backup-codes.txt')
    const text = readFileSync(await file.path(), 'utf8')
    expect(text.trim().split('\n')).toEqual(await page.locator('.codes li').allTextContents())
    const codes = await page.locator('.codes li').allTextContents()
    await press(page, 'Copy')
    await press(page, 'Copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'))
  })

  test('the navigation marks the part that a link leads to, and then the part that the reader scrolls to', async () => {
    const page = await signedIn({ viewport: { width: 1280, height: 500 } })
    const current = page.locator('.nav [aria-current="location"]')
    await expect.poll(() => current.allTextContents()).toEqual(['Profile'])
    await page.getByRole('link', { name: 'Security', exact: true }).click()
    await expect.poll(() => current.allTextContents()).toEqual(['Security'])
    // The last parts are all on the screen, so that where the page stands does not tell which one was meant.
    await page.getByRole('link', { name: 'Devices', exact: true }).click()
    await expect.poll(() => current.allTextContents()).toEqual(['Devices'])
    await page.mouse.move(700, 300)
    await page.mouse.wheel(0, -5_000)
    await expect.poll(() => current.allTextContents()).toEqual(['Profile'])
    await page.goto(`${server.url}/auth/account#password`)
    await page.reload()
    await expect.poll(() => current.allTextContents()).toEqual(['Security'])
  })

  test('printed, the backup codes stand black on white with the name of the product, without buttons', async () => {
    const page = await signedIn({ colorScheme: 'dark' })
    await setUp(page)
    const product = page.locator('.paper')
    expect(await product.isVisible()).toBe(false)
    await page.evaluate('window.print = () => { window.printed = true }')
    await press(page, 'Print')
    expect(await page.evaluate('window.printed')).toBe(true)

    await page.emulateMedia({ media: 'print' })
    expect(await product.isVisible()).toBe(true)
    expect(await page.locator('button:visible, a:visible').count()).toBe(0)
    const looks = `[document.body, document.querySelector('.codes')].map((element) => {
      const { color, backgroundColor } = getComputedStyle(element)
      return [color, backgroundColor]
    })`
    const blackOnWhite = ['rgb(0, 0, 0)', 'rgb(255, 255, 255)']
    expect(await page.evaluate(looks)).toEqual([blackOnWhite, blackOnWhite])
    expect(await page.locator('.codes li:visible').count()).toBe(10)
  })

  test('times are relative, with the exact local time in their titles', async () => {
    const page = await signedIn({ locale: 'en', timezoneId: 'Asia/Tokyo' })
    server.sql('update latchkey_sessions set last_seen_at = last_seen_at - 7200')
    await page.reload()
    const time = page.locator('#sessions time')
    expect(await time.textContent()).toBe('2 hours ago')
    const moment = new Date((await time.getAttribute('datetime')) ?? '')
    const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo' })
    expect(await time.getAttribute('title')).toBe(exact.format(moment))
  })

  test('a long address does not make the page scroll sideways at 320 px (WCAG 2.2, 1.4.10)', async () => {
    const page = await signedIn({ viewport: { width: 320, height: 640 } })
    server.sql(`update latchkey_users set email = '${'a'.repeat(60)}@${'b'.repeat(60)}.example.test'`)
    await page.reload()
    await page.locator('#email').getByText('a'.repeat(60)).waitFor()
    expect(await overflows(page)).toBe(false)
  })

  const looks = [
    ['in light', { colorScheme: 'light' }, 'ltr'],
    ['in dark', { colorScheme: 'dark' }, 'ltr'],
    ['on a narrow phone', { viewport: { width: 360, height: 740 } }, 'ltr'],
    ['on a narrow phone, right to left', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }, 'rtl'],
  ] as const

  test.each(looks)('axe finds nothing, and nothing scrolls sideways, %s', async (_, options, direction) => {
    const page = await signedIn({ bypassCSP: true, ...options })
    const check = async () => {
      await page.evaluate(`document.documentElement.dir = '${direction}'`)
      expect(await axeFaults(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    }
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check()
    await page.goto(`${server.url}/auth/account?error=invalid_credentials&at=password`)
    await check()
    await page.goto(`${server.url}/auth/two-factor/setup`)
    await check()
    await page.getByLabel('Password', { exact: true }).fill(ada.password)
    await press(page, 'Continue')
    await page.locator('.qr').waitFor()
    await check()
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
    await enterCode(page, 'Code from your authenticator app', '000000', 'Turn it on')
    await says(page, 'The code is wrong.')
    await check()
    await enterCode(
      page,
      'Code from your authenticator app',
      totpCode(secret, server.runtime.clock.now()),
      'Turn it on',
    )
    await page.locator('.codes').waitFor()
    await check()
    await page.getByRole('link', { name: 'I have kept them' }).click()
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check()
  })
})
