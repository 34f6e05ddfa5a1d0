import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { adminPageRoutes } from '../../src/routes/admin/pages/index.js'
import { administrator } from '../support/administrators.js'
import type { AttackServer } from '../support/attack-server.js'
import { administratorBrowser, ask, goTo, press, says, serverWithAdministrator, unfold, ways } from './administrator.js'
import { axeFaults } from './axe.js'
import { isChromiumMissing, overflows, scrolls } from './chromium.js'

const grace = { email: 'grace@example.test', password: 'a compiler of long words' }

describe.skipIf(isChromiumMissing())('the admin pages in Chromium', () => {
  let server: AttackServer
  let graceId: string

  beforeEach(async () => {
    server = await serverWithAdministrator({
      settings: {
        admin: { emails: [administrator.email], twoFactor: true },
        jwks: { url: 'https://issuer.example/keys', audience: 'api' },
      },
    })
    graceId = (await server.auth.users.create({ ...grace, name: 'Grace', emailVerified: true, roles: ['EDITOR'] })).id
  })

  afterEach(() => server.close())

  const signedIn = administratorBrowser(() => server)

  test.each(ways)(
    'tokens, key set, allow-list and accounts are administered by forms, %s',
    async (_, javaScriptEnabled) => {
      const page = await signedIn({ javaScriptEnabled })

      await goTo(page, 'API tokens')
      await page.getByLabel('Name').fill('Nightly report')
      await press(page, 'Create a token')
      await says(page, 'it is not shown again')
      const token = (await page.locator('#secret').textContent()) ?? ''
      const read = await server.ask('GET', '/api/notes', { headers: { 'x-apikey': token } })
      expect(read.status).not.toBe(401)
      await page.getByRole('link', { name: 'I have kept it' }).click()
      await says(page, 'Nightly report')
      expect(await page.content()).not.toContain(token)

      await goTo(page, 'JWKS')
      await page.locator('#jwks-url').fill('https://other.example/keys')
      await press(page, 'Set the URL')
      await says(page, 'Saved. It is in force.')
      expect(await page.locator('#jwks code').first().textContent()).toBe('https://other.example/keys')
      await ask(page, 'Remove…')
      await press(page, 'Remove the URL')
      await says(page, 'Saved. It is in force.')
      expect(await page.locator('#jwks code').first().textContent()).toBe('https://issuer.example/keys')

      await goTo(page, 'IP allow-list')
      await press(page, 'Add my address')
      await says(page, 'The entry is added.')
      await ask(page, 'Remove…')
      await page.getByLabel('Type everyone to confirm').fill('all')
      await press(page, 'Remove the entry')
      await says(page, 'This would lock you or every administrator out.')
      await ask(page, 'Remove…')
      await page.getByLabel('Type everyone to confirm').fill('everyone')
      await press(page, 'Remove the entry')
      await says(page, 'The list is empty, so every address can use the API.')

      await page.getByRole('searchbox', { name: 'Find an account' }).fill('grace')
      await page.getByRole('searchbox', { name: 'Find an account' }).press('Enter')
      await page.getByRole('link', { name: grace.email }).click()
      await ask(page, 'Disable…')
      await page.getByLabel('Reason').fill('asked for it')
      await press(page, 'Disable the account')
      await says(page, 'The account is disabled.')
      await press(page, 'Enable the account')
      await says(page, 'The account is enabled.')
      expect((await server.auth.users.get(graceId))?.disabledAt).toBeNull()
    },
    60_000,
  )

  test.each([
    ['360 px wide and dark', { viewport: { width: 360, height: 800 }, colorScheme: 'dark' }],
    ['1280 px wide and light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ] as const)(
    'every page is accessible and fits, %s',
    async (_, options) => {
      await server.client().signIn(grace)
      await server.auth.apiTokens.create({ name: 'Nightly report', cidrs: ['203.0.113.0/24'] })
      await server.auth.access.allow('127.0.0.0/8')
      await server.auth.users.create({
        email: `${'long-part.of.an.address.'.repeat(2)}x@${'subdomain'.repeat(6)}.example`,
      })
      const page = await signedIn({ ...options, bypassCSP: true })
      for (const { path } of adminPageRoutes) {
        await page.goto(`${server.url}/auth${path.replace(':id', graceId)}`)
        expect(await axeFaults(page), path).toEqual([])
        expect(await overflows(page), path).toBe(false)
        if (options.viewport.width === 1280) expect(await scrolls(page), path).toBe(false)
      }
      await page.goto(`${server.url}/auth/admin/tokens?error=invalid_request&fields=name&at=create`)
      await unfold(page)
      expect(await axeFaults(page)).toEqual([])
      await page.goto(`${server.url}/auth/admin/users/${graceId}`)
      await ask(page, 'Disable…')
      expect(await axeFaults(page)).toEqual([])
      expect(await overflows(page)).toBe(false)
    },
    60_000,
  )

  test('ATK-121 every preview runs no script, under the policy of the page', async () => {
    const page = await signedIn()
    for (const template of ['mail/otp', 'pages/login', 'pages/account']) {
      await page.goto(`${server.url}/auth/admin/templates?template=${template}`)
      const frame = page.frameLocator('iframe.preview')
      await frame.locator('body').waitFor()
      // The script of our pages would have put a button over the end of each password field.
      expect(await frame.locator('.secret').count()).toBe(0)
    }
  })

  test('ATK-126 no page shows in a frame, nor by the back button after signing out', async () => {
    const page = await signedIn()
    await goTo(page, 'Sessions')
    await says(page, administrator.email)
    await press(page, 'Sign out')
    await page.waitForURL((url) => !url.pathname.startsWith('/auth/admin'))
    await page.goBack()
    await page.waitForURL(/\/auth\/login/)
    expect(await page.content()).not.toContain(administrator.email)
  })

  test('a form that needs a recent sign-in leads to sign-in and back', async () => {
    const page = await signedIn()
    await server.runtime.clock.advance('11m')
    await page.goto(`${server.url}/auth/admin/tokens`)
    await press(page, 'Sign in again')
    await page.waitForURL(/\/auth\/login\?redirect=%2Fauth%2Fadmin%2Ftokens/)
  })

  test('the audit log shows new events by itself, with relative times', async () => {
    const page = await signedIn()
    await page.clock.install()
    await goTo(page, 'Audit log')
    await says(page, 'two_factor_enabled')
    await server.auth.users.update(graceId, { name: 'Grace Hopper' })
    await page.clock.runFor(10_000)
    const newest = page.locator('tbody tr', { hasText: 'account_updated' })
    await newest.waitFor()
    expect(await newest.locator('time').getAttribute('title')).not.toBeNull()
  })

  test('rows are filtered as one types, and a dialog is left by Escape', async () => {
    const page = await signedIn()
    await goTo(page, 'Settings')
    await page.getByRole('searchbox', { name: 'Filter these rows' }).fill('basePath')
    expect(await page.locator('tbody tr:visible').count()).toBe(1)
    await page.getByRole('searchbox', { name: 'Filter these rows' }).fill('no such row')
    await says(page, 'No row matches.')

    await page.goto(`${server.url}/auth/admin/users/${graceId}`)
    await ask(page, 'Disable…')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.locator('summary:focus').textContent()).toContain('Disable…')
  })
})
