import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestMailbox } from '../../src/testing.js'
import { administrator } from '../support/administrators.js'
import type { AttackServer } from '../support/attack-server.js'
import { administratorBrowser, ask, goTo, press, says, serverWithAdministrator, ways } from './administrator.js'
import { axeFaults } from './axe.js'
import { isChromiumMissing, overflows } from './chromium.js'

const grace = { email: 'grace@example.test', password: 'a compiler of long words' }

describe.skipIf(isChromiumMissing())('forms of the admin pages in Chromium', () => {
  let server: AttackServer
  let graceId: string
  let mailbox: ReturnType<typeof createTestMailbox>
  let mailServerIsDown: boolean

  beforeEach(async () => {
    mailServerIsDown = false
    mailbox = createTestMailbox()
    const { transport } = mailbox
    const send: typeof transport.send = (mail, done) => {
      if (mailServerIsDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      transport.send(mail, done)
    }
    server = await serverWithAdministrator({
      settings: {
        admin: { emails: [administrator.email], twoFactor: true, impersonation: {} },
        mail: { from: 'Test <auth@example.test>', transport: { ...transport, send } },
      },
    })
    graceId = (await server.auth.users.create({ ...grace, name: 'Grace', emailVerified: true })).id
  })

  afterEach(() => server.close())

  const signedIn = administratorBrowser(() => server)

  const open = (page: Page, path: string) => page.goto(`${server.url}/auth/admin${path}`)

  test.each(ways)('an invited user chooses a password by the mail, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    await goTo(page, 'Users')
    await page.locator('#new-email').fill('alan@example.test')
    await page.locator('#new-roles').fill('EDITOR')
    await press(page, 'Create and invite')
    await says(page, 'The account is created.')
    const link = mailbox.link(await mailbox.waitFor('alan@example.test', /invitation/i))
    await page.goto(link)
    await page.locator('#password').fill('a bombe of many drums')
    await press(page, 'Set the new password')
    await says(page, 'Your password is changed')
    const { body } = await server.client().signIn({ email: 'alan@example.test', password: 'a bombe of many drums' })
    expect(body.user.roles).toEqual(['EDITOR'])
  })

  test.each(ways)('a forced reset ends the sessions and mails a link, %s', async (_, javaScriptEnabled) => {
    const client = server.client()
    await client.signIn(grace)
    const page = await signedIn({ javaScriptEnabled })
    await open(page, `/users/${graceId}`)
    await ask(page, 'Reset…')
    await press(page, 'Reset the password')
    await says(page, 'A mail with a link is on its way.')
    await mailbox.waitFor(grace.email, /password/i)
    expect((await client.get('/auth/me')).status).toBe(401)
    expect((await server.client().post('/auth/login', grace)).status).toBe(403)
  })

  test.each(ways)('an account is deleted only with its address typed, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    await open(page, `/users/${graceId}`)
    await ask(page, 'Delete')
    await page.locator('#confirm').fill('grace')
    await press(page, 'Delete the account for good')
    await says(page, 'The confirmation does not match.')
    expect(await server.auth.users.get(graceId)).not.toBeNull()
    await ask(page, 'Delete')
    await page.locator('#confirm').fill(grace.email)
    await press(page, 'Delete the account for good')
    await says(page, 'The account is deleted.')
    expect(new URL(page.url()).pathname).toBe('/auth/admin/users')
    expect(await server.auth.users.get(graceId)).toBeNull()
  })

  test.each(ways)(
    'a rotated token is shown once, and the old one works for the overlap, %s',
    async (_, javaScriptEnabled) => {
      const { token } = await server.auth.apiTokens.create({ name: 'Nightly report' })
      const page = await signedIn({ javaScriptEnabled })
      await goTo(page, 'API tokens')
      await page.locator('details.edit > summary').first().click()
      await page.getByLabel('The old token keeps working for').selectOption('1h')
      await press(page, 'Rotate')
      await says(page, 'it is not shown again')
      const fresh = (await page.locator('#secret').textContent()) ?? ''
      const statusOf = async (key: string) =>
        (await server.ask('GET', '/api/secret', { headers: { 'x-apikey': key } })).status
      expect([fresh === token, await statusOf(fresh), await statusOf(token)]).toEqual([false, 200, 200])
      await server.runtime.clock.advance('61m')
      expect([await statusOf(fresh), await statusOf(token)]).toEqual([200, 401])
    },
  )

  test.each(ways)('a waiting mail is sent again, and another one dropped, %s', async (_, javaScriptEnabled) => {
    const page = await signedIn({ javaScriptEnabled })
    mailServerIsDown = true
    await server.client().post('/auth/password/forgot', { email: grace.email })
    await goTo(page, 'Mail')
    await says(page, 'example.test')
    mailServerIsDown = false
    await page.getByRole('button', { name: /^Send again/ }).click()
    await says(page, 'The mail is sent again now.')
    await mailbox.waitFor(grace.email, /password/i)

    mailServerIsDown = true
    await server.client().post('/auth/otp', { email: grace.email })
    await goTo(page, 'Mail')
    await ask(page, 'Drop…')
    await press(page, 'Drop the mail')
    await says(page, 'The mail is deleted.')
    await says(page, 'No mail is waiting.')
  })

  test.each(ways)(
    'an administrator acts as a user, with a banner, until it is stopped, %s',
    async (_, javaScriptEnabled) => {
      const page = await signedIn({ javaScriptEnabled })
      await open(page, `/users/${graceId}`)
      await ask(page, 'Act as the user…')
      await page.locator('#act-reason').fill('Ticket 1843: the invoice page stays empty.')
      await press(page, 'Act as this user')
      await page.waitForURL(`${server.url}/`)
      await page.goto(`${server.url}/auth/account`)
      await says(page, 'You are acting as')
      await says(page, grace.email)
      await open(page, '')
      expect(await page.content()).not.toContain(administrator.email)
      await page.goto(`${server.url}/auth/account`)
      await press(page, 'Stop acting')
      await page.waitForURL(/\/auth\/login/)
      await page.goto(`${server.url}/auth/account`)
      await page.waitForURL(/\/auth\/login/)
      const { items } = await server.auth.audit.list({ event: 'impersonation_started' })
      expect(items[0]?.detail).toEqual({ reason: 'Ticket 1843: the invoice page stays empty.' })
    },
  )

  test('a page offers to act as a user only where it is allowed', async () => {
    const page = await signedIn()
    await open(page, `/users/${graceId}`)
    expect(await page.locator('#impersonate').count()).toBe(1)
    await server.auth.users.disable(graceId)
    await page.reload()
    expect(await page.locator('#impersonate').count()).toBe(0)
    const [own] = (await server.auth.users.list({ query: administrator.email })).items
    await open(page, `/users/${own?.id}`)
    expect(await page.locator('#impersonate').count()).toBe(0)
  })

  test.each([
    ['360 px wide and dark', { viewport: { width: 360, height: 800 }, colorScheme: 'dark' }],
    ['1280 px wide and light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ] as const)('what asks before it acts is accessible and fits, %s', async (_, options) => {
    mailServerIsDown = true
    const page = await signedIn({ ...options, bypassCSP: true })
    await server.client().post('/auth/password/forgot', { email: grace.email })
    for (const [path, opens] of [
      [`/users/${graceId}`, 'Reset…'],
      [`/users/${graceId}`, 'Act as the user…'],
      [`/users/${graceId}`, 'Delete'],
      ['/mail', 'Drop…'],
    ] as const) {
      await open(page, path)
      await ask(page, opens)
      await page.getByRole('dialog').waitFor()
      expect(await axeFaults(page), opens).toEqual([])
      expect(await overflows(page), opens).toBe(false)
    }
  })
})
