import type { Page } from 'playwright-core'

/** Enters a code and sends it. Where the field has boxes, the last digit sends the form; everything else needs the button. */
export async function enterCode(page: Page, label: string, code: string, button: string): Promise<void> {
  const boxes = await page.locator('.segments i').count()
  const bySelf = boxes > 0 && new RegExp(`^\\d{${boxes}}$`).test(code.replaceAll(' ', ''))
  await page.getByLabel(label).fill(code)
  if (!bySelf) await page.getByRole('button', { name: button, exact: true }).click()
}
