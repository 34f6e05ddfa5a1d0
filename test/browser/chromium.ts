import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../.ci/chromium.js'

const quiet = '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking'
const flags = `${quiet} --disable-component-update --disable-sync`.split(' ')

/** Said once where the suite cannot run; in CI a missing Chromium is a failure, not a pass. */
export function isChromiumMissing(): boolean {
  if (findChromium() !== null || process.env.CI !== undefined) return false
  console.log('The browser suite is skipped: no Chromium on PATH (Debian: apt-get install chromium-headless-shell).')
  return true
}

export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error('No Chromium on PATH (Debian: apt-get install chromium-headless-shell).')
  return chromium.launch({ executablePath, args: flags })
}

/** What a page complained of: exceptions and violations of its content security policy. Refused requests are no fault. */
export function collectFaults(context: BrowserContext): string[] {
  const faults: string[] = []
  context.on('weberror', (error) => faults.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text())
  })
  return faults
}

/** Whether anything makes the page scroll sideways. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}

/** Whether a table of the page is wider than its place, so that columns are out of view. */
export function scrolls(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    "[...document.querySelectorAll('.scroll')].some((each) => each.scrollWidth > each.clientWidth)",
  )
}
