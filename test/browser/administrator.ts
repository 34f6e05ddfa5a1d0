import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { administrator } from '../support/administrators.js'
import { type AttackServer, attackServer } from '../support/attack-server.js'
import { enrol } from '../support/totp.js'
import { collectFaults, launchChromium } from './chromium.js'

/** Each test of a form runs in both. */
export const ways = [
  ['without scripts', false],
  ['with scripts', true],
] as const

/** A server with an account for the administrator. Chromium's clock is the real one, so the server begins with it. */
export async function serverWithAdministrator(
  settings: Parameters<typeof attackServer>[0] & object = {},
): Promise<AttackServer> {
  const server = await attackServer({ startAt: Date.now(), file: true, ...settings })
  await server.auth.users.create({ ...administrator, emailVerified: true })
  return server
}

/**
 * Chromium for a suite, and the function that opens it with an administrator's fresh session, at the overview. A test fails
 * when one of its pages logged an error. Call it after `afterEach(() => server.close())`: hooks run in reverse.
 */
export function administratorBrowser(serverOf: () => AttackServer) {
  let browser: Browser
  let opened: Awaited<ReturnType<typeof administratorIn>>
  beforeAll(async () => {
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    await opened.context.close()
    expect(opened.faults).toEqual([])
  })
  return async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
    opened = await administratorIn(browser, serverOf(), options)
    return opened.page
  }
}

/** `faults` collects what the pages complain of. */
async function administratorIn(
  browser: Browser,
  server: AttackServer,
  options: Parameters<Browser['newContext']>[0],
): Promise<{ page: Page; context: BrowserContext; faults: string[] }> {
  const client = server.client()
  await client.signIn(administrator)
  await enrol(client, administrator.password, server.runtime.clock)
  const context = await browser.newContext(options)
  const faults = collectFaults(context)
  await context.addCookies(client.cookies.all().map(({ name, value }) => ({ name, value, url: server.url })))
  const page = await context.newPage()
  await page.goto(`${server.url}/auth/admin`)
  return { page, context, faults }
}

export const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor()
export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
export const goTo = (page: Page, name: string) =>
  page.locator('nav.nav').getByRole('link', { name, exact: true }).click()
/** Opens what asks before it acts: in place, or with scripts in a dialog. */
export const ask = (page: Page, name: string) =>
  page.locator('details.confirm > summary', { hasText: name }).first().click()
/** Opens everything that a click would, except what asks before it acts. */
export async function unfold(page: Page): Promise<void> {
  const folded = 'details:is(.edit, .more)'
  await page.evaluate(`for (const details of document.querySelectorAll('${folded}')) details.open = true`)
  expect(await page.locator(`${folded}:not([open])`).count()).toBe(0)
}
