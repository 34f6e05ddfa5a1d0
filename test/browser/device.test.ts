import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { administrator } from '../support/administrators.js'
import { askedTool } from '../support/asked-device.js'
import type { AttackServer } from '../support/attack-server.js'
import { administratorBrowser, goTo, press, says, serverWithAdministrator, ways } from './administrator.js'
import { axeFaults } from './axe.js'
import { isChromiumMissing, overflows } from './chromium.js'

describe.skipIf(isChromiumMissing())('the approval of the command-line tool in Chromium', () => {
  let server: AttackServer

  beforeEach(async () => {
    server = await serverWithAdministrator({
      settings: { admin: { emails: [administrator.email], twoFactor: true } },
    })
  })

  afterEach(() => server.close())

  const signedIn = administratorBrowser(() => server)

  /** A tool that waits, and the page that the navigation leads to. */
  async function atTheCode(options: Parameters<typeof signedIn>[0] = {}) {
    const tool = await askedTool(server.client({ as: 'server' }))
    const page = await signedIn(options)
    await goTo(page, 'Tool sign-in')
    expect(page.url()).toBe(tool.url)
    return { tool, page }
  }

  async function enter(page: Page, code: string): Promise<void> {
    await page.getByLabel('Code from the terminal').fill(code)
    await press(page, 'Continue')
  }

  test.each(ways)('a code that is typed and approved signs the tool in, %s', async (_, javaScriptEnabled) => {
    const { page, tool } = await atTheCode({ javaScriptEnabled })
    expect((await tool.poll()).status).toBe(202)
    await enter(page, tool.userCode)
    await says(page, 'ann-laptop')
    await says(page, 'Do you see this code on your own screen?')
    expect(page.url()).not.toContain(tool.userCode)
    await press(page, 'Approve')
    await says(page, 'Done. The terminal shows the result.')
    await server.runtime.clock.advance('5s')
    const signedIn = await tool.poll()
    expect([signedIn.status, signedIn.body]).toMatchObject([200, { user: { email: administrator.email } }])
  })

  test.each(ways)('a code that is denied signs nothing in, %s', async (_, javaScriptEnabled) => {
    const { page, tool } = await atTheCode({ javaScriptEnabled })
    await enter(page, tool.userCode)
    await press(page, 'Deny')
    await says(page, 'Done. The terminal shows the result.')
    expect((await tool.poll()).status).toBe(400)
  })

  test.each(ways)('a wrong code is refused, and the right one still works, %s', async (_, javaScriptEnabled) => {
    const { page, tool } = await atTheCode({ javaScriptEnabled })
    await enter(page, 'AAAA-AAAA')
    await page.locator('#device p.error[role=alert]').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
    await enter(page, tool.userCode)
    await says(page, 'ann-laptop')
  })

  test.each([
    ['360 px wide and dark', { viewport: { width: 360, height: 800 }, colorScheme: 'dark' }],
    ['1280 px wide and light', { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }],
  ] as const)('both steps are accessible and fit, %s', async (_, options) => {
    const { page, tool } = await atTheCode({ ...options, bypassCSP: true })
    expect([await axeFaults(page), await overflows(page)]).toEqual([[], false])
    await enter(page, 'AAAA-AAAA')
    await enter(page, tool.userCode)
    await says(page, 'ann-laptop')
    expect([await axeFaults(page), await overflows(page)]).toEqual([[], false])
  })
})
