import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AttackServer, ada, attackServer } from '../support/attack-server.js'
import { totpCode } from '../support/totp.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'

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
  const unfold = (page: Page, name: string) => page.locator('summary', { hasText: name }).click()

  /** Sets two-factor up from the account page on; the secret. */
  async function setUp(page: Page): Promise<string> {
    await page.getByRole('link', { name: 'Set up two-factor authentication' }).click()
    await page.getByLabel('Password', { exact: true }).fill(ada.password)
    await press(page, 'Continue')
    const secret = ((await page.locator('code').textContent()) ?? '').replaceAll(' ', '')
    expect(new URL(page.url()).search).toBe('')
    await page.getByLabel('Code from your authenticator app').fill(totpCode(secret, server.runtime.clock.now()))
    await press(page, 'Turn it on')
    await says(page, 'Two-factor authentication is on.')
    return secret
  }

  test.each(ways)('everything on it is done by forms, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    await page.getByLabel('Name').fill('Ada Lovelace')
    await press(page, 'Save')
    await says(page, 'Saved.')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada Lovelace')

    await unfold(page, 'Change the password')
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password').fill('another long password')
    await press(page, 'Change the password')
    await says(page, 'The password is wrong.')
    await page.getByLabel('Current password').fill(ada.password)
    await page.getByLabel('New password').fill('another long password')
    await press(page, 'Change the password')
    await says(page, 'Your password is changed')
    const phone = server.client()
    await phone.signIn({ ...ada, password: 'another long password' })

    await unfold(page, 'Change the address')
    await page.getByLabel('New email address').fill('lovelace@example.test')
    await page.locator('#email-password').fill('another long password')
    await press(page, 'Send the link')
    await says(page, 'A mail with a link is on its way')

    await press(page, 'Sign out everywhere else')
    await says(page, 'You are signed out everywhere else.')
    expect((await phone.get('/auth/me')).status).toBe(401)

    await unfold(page, 'I want to delete my account')
    await page.locator('#delete-password').fill('another long password')
    await press(page, 'Delete my account for good')
    await page.waitForURL(`${server.url}/`)
    expect(await context.cookies()).toEqual([])
  })

  test.each(ways)('two-factor is set up, used and turned off, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    const secret = await setUp(page)
    expect(await page.locator('.codes li').count()).toBe(10)
    await page.getByRole('link', { name: 'I have kept them' }).click()
    await page.waitForURL(/\/auth\/account#two-factor$/)

    await server.runtime.clock.advance('30s')
    await unfold(page, 'Make new backup codes')
    await page.locator('#codes-password').fill(ada.password)
    await page.locator('#codes-code').fill(totpCode(secret, server.runtime.clock.now()))
    await press(page, 'Make new backup codes')
    const [code = ''] = await page.locator('.codes li').allTextContents()
    await page.getByRole('link', { name: 'I have kept them' }).click()

    await unfold(page, 'Turn two-factor authentication off')
    await page.locator('#off-password').fill(ada.password)
    await page.locator('#off-code').fill(code)
    await press(page, 'Turn two-factor authentication off')
    await says(page, 'Two-factor authentication is off')
    await page.getByRole('link', { name: 'Set up two-factor authentication' }).waitFor()
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
    await page.getByLabel('Name').fill('Too late')
    await press(page, 'Save')
    if (!javaScriptEnabled) await press(page, 'Continue')
    await says(page, 'This was not done, because you were signed out meanwhile.')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada')
  })

  test('is used by the keyboard alone, and what went wrong has the focus', async () => {
    const page = await signedIn()
    await page.locator('summary', { hasText: 'Change the password' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    // Over the button that shows what was typed.
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.type('another long password')
    await page.keyboard.press('Enter')
    await says(page, 'The password is wrong.')
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.id')).toBe('current-password')
  })

  test('backup codes are copied by a button that only scripts make', async () => {
    const page = await signedIn({ permissions: ['clipboard-read', 'clipboard-write'] })
    await setUp(page)
    const codes = await page.locator('.codes li').allTextContents()
    await press(page, 'Copy')
    await press(page, 'Copied')
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'))
  })

  const looks = [
    ['in light', { colorScheme: 'light' }],
    ['in dark', { colorScheme: 'dark' }],
    ['on a narrow phone', { viewport: { width: 360, height: 740 } }],
  ] as const

  test.each(looks)('axe finds nothing, and nothing scrolls sideways, %s', async (_, options) => {
    const page = await signedIn({ bypassCSP: true, ...options })
    const check = async () => {
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
    await page.getByLabel('Code from your authenticator app').fill('000000')
    await press(page, 'Turn it on')
    await says(page, 'The code is wrong.')
    await check()
    await page.getByLabel('Code from your authenticator app').fill(totpCode(secret, server.runtime.clock.now()))
    await press(page, 'Turn it on')
    await page.locator('.codes').waitFor()
    await check()
    await page.getByRole('link', { name: 'I have kept them' }).click()
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check()
  })
})
