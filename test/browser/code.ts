import type { Page } from 'playwright-core'

/** Enters a code and sends it. With a script the sixth digit sends the form; everything else needs the button. */
export async function enterCode(page: Page, label: string, code: string, button: string): Promise<void> {
  const bySelf = (await page.locator('.segments').count()) > 0 && /^\d{6}$/.test(code.replaceAll(' ', ''))
  await page.getByLabel(label).fill(code)
  if (!bySelf) await page.getByRole('button', { name: button, exact: true }).click()
}
