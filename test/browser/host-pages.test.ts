import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ann, type ListeningHost, listeningHost } from '../support/listening-host.js'
import { ask, goTo, press, says, unfold, ways } from './administrator.js'
import { axeFaults } from './axe.js'
import { collectFaults, isChromiumMissing, launchChromium, overflows } from './chromium.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const pages = [
  '/spaces',
  '/spaces/dev',
  '/spaces/dev/releases',
  '/spaces/dev/env',
  '/spaces/dev/logs',
  '/spaces/dev/tokens',
  '/spaces/dev/jwks',
  '/spaces/dev/access',
  '/spaces/dev/data',
  '/spaces/dev/data/orders',
  '/spaces/dev/backup',
  '/project',
  '/admin-tokens',
]

describe.skipIf(isChromiumMissing())('the admin pages of a space host in Chromium', () => {
  let host: ListeningHost
  let browser: Browser
  beforeAll(async () => {
    host = await listeningHost()
    browser = await launchChromium()
    const post = (path: string, fields: Record<string, string>) => host.browser.post(`/auth/admin/api${path}`, fields)
    await post('/spaces', { name: 'dev' })
    await post('/spaces/dev/env', { name: 'MAIL_FROM', value: 'Notes <hello@app.example>' })
    await post('/spaces/dev/env', { name: 'JWT_SECRET', value: 'hidden', encrypted: 'true' })
    await post('/spaces/dev/tokens', { name: 'Nightly report', access: 'READ' })
    await post('/admintokens', { owner: 'personal', name: 'pipeline', spaces: 'dev', commands: 'deploy' })
    await post('/teams', { name: 'deployers', right: 'ADMIN' })
    await post('/project/users', { email: 'a.rather.long.address@subdomain.of.a.company.example', right: 'MEMBER' })
    await post('/spaces/dev/collections/orders/indexes', { fields: 'status' })
    const documents = Array.from({ length: 60 }, (_, n) => ({
      _id: `order-${n}`,
      status: 'open',
      text: 'x'.repeat(300),
    }))
    await fetch(`${host.adminUrl}/auth/admin/api/spaces/dev/collections/orders/import`, {
      method: 'POST',
      headers: { cookie: host.browser.cookie(), origin: host.adminUrl, 'content-type': 'application/jsonl' },
      body: documents.map((document) => `${JSON.stringify(document)}\n`).join(''),
    }).then((answer) => answer.text())
    await host.deploy('dev', 'prints')
    await host.deploy('dev', 'friendly')
  })
  afterAll(async () => {
    await browser?.close()
    await host?.close()
  })

  async function opened(options: Parameters<Browser['newContext']>[0] = {}) {
    const context = await browser.newContext(options)
    const faults = collectFaults(context)
    await context.addCookies(host.browser.cookies())
    const page = await context.newPage()
    await page.goto(`${host.adminUrl}/auth/admin`)
    return {
      page,
      async close() {
        await context.close()
        expect(faults).toEqual([])
      },
    }
  }

  test.each(ways)(
    'spaces, variables, releases, teams and admin tokens are administered, %s',
    async (_, javaScriptEnabled) => {
      const { page, close } = await opened({ javaScriptEnabled })
      const name = javaScriptEnabled ? 'scripted' : 'plain'
      const inSpace = (link: string) =>
        page.locator('nav.inside').getByRole('link', { name: link, exact: true }).click()

      await goTo(page, 'Spaces')
      await page.locator('#space-name').fill(name)
      await press(page, 'Create a space')
      await says(page, 'The space is created.')
      await page.getByRole('link', { name, exact: true }).click()
      await inSpace('Environment')
      await page.locator('#variable-name').fill('GREETING')
      await page.locator('#variable-value').fill('hello')
      await page.getByLabel('Encrypt it').uncheck()
      await press(page, 'Set a variable')
      await says(page, 'The variable is set.')
      await says(page, 'hello')
      await inSpace('Overview')
      await ask(page, 'Remove…')
      await page.getByLabel('Type the name of the space to confirm').fill(name)
      await press(page, 'Remove the space for good')
      await says(page, 'The space is removed.')

      await page.getByRole('link', { name: 'dev', exact: true }).click()
      await inSpace('Releases')
      await page.getByRole('button', { name: /^Activate/ }).click()
      await says(page, 'The release is in force.')

      await goTo(page, 'Project')
      await page.locator('#team-name').fill(`team of ${name}`)
      await press(page, 'Create a team')
      await says(page, 'The team is created.')
      await goTo(page, 'Admin tokens')
      await page.locator('#token-name').fill(name)
      await press(page, 'Create an admin token')
      await says(page, 'it is not shown again')
      const token = (await page.locator('#secret').textContent()) ?? ''
      expect(token).toMatch(/^[0-9a-f]{16}-[0-9a-f]{32}$/)
      await page.getByRole('link', { name: 'I have kept it' }).click()
      await says(page, `${token.slice(0, 5)}…`)
      expect(await page.content()).not.toContain(token)
      await close()
    },
  )

  test.each(ways)(
    'a document is found, edited and deleted, and all are downloaded, %s',
    async (_, javaScriptEnabled) => {
      const { page, close } = await opened({ javaScriptEnabled, bypassCSP: javaScriptEnabled })
      const id = javaScriptEnabled ? 'order-1' : 'order-2'
      await page.goto(`${host.adminUrl}/auth/admin/spaces/dev/data`)
      await page.getByRole('link', { name: 'orders' }).click()
      await page.locator('#filter').fill(`{"_id": "${id}"}`)
      await press(page, 'Apply')
      const text = await page.locator('#document-text').inputValue()
      await page.locator('#document-text').fill(text.replace('open', 'paid'))
      if (javaScriptEnabled) expect(await axeFaults(page)).toEqual([])
      await press(page, 'Save the document')
      await says(page, 'The document is saved.')
      await page.locator('#filter').fill('{"status": "paid"}')
      await press(page, 'Apply')
      await page.getByRole('button', { name: `Open ${id}` }).click()
      const save = await page.getByRole('button', { name: 'Save the document' }).boundingBox()
      const opens = await page.getByText('Delete…').boundingBox()
      expect((opens?.y ?? 0) - (save?.y ?? 0) - (save?.height ?? 0)).toBeGreaterThanOrEqual(12)
      await ask(page, 'Delete…')
      await press(page, 'Delete the document')
      await says(page, 'The document is deleted.')
      const downloaded = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download all documents' }).click()
      expect((await downloaded).suggestedFilename()).toBe('orders.jsonl')
      await close()
    },
  )

  test('the log goes on after an empty line, which only keeps the connection open', async () => {
    const { page, close } = await opened()
    const line = JSON.stringify({ at: '2026-01-31T12:00:00.000Z', level: 'info', text: 'after the pause' })
    await page.route('**/logs?follow=true*', (route) => route.fulfill({ body: `\n${line}\n` }))
    await page.goto(`${host.adminUrl}/auth/admin/spaces/dev/logs`)
    await page.getByText('after the pause').waitFor()
    await close()
  })

  test('the log grows as the application prints', async () => {
    const { page, close } = await opened()
    await page.goto(`${host.adminUrl}/auth/admin/spaces/dev/logs`)
    await says(page, 'New lines appear as they are printed.')
    const before = (await page.locator('pre.log').textContent()) ?? ''
    await host.deploy('dev', 'friendly')
    await page.waitForFunction(`document.querySelector('pre.log').textContent.length > ${before.length}`)
    await close()
  })

  test.each([
    ['390 px wide and dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }],
    ['1280 px wide and light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ] as const)('every page is accessible and fits, %s', async (_, options) => {
    const { page, close } = await opened({ ...options, bypassCSP: true })
    for (const path of pages) {
      await page.goto(`${host.adminUrl}/auth/admin${path}`)
      await unfold(page)
      expect(await axeFaults(page), path).toEqual([])
      expect(await overflows(page), path).toBe(false)
    }
    expect(await page.content()).toContain(ann.email)
    await close()
  })
})
