import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Violation {
  id: string
  nodes: { target: string[] }[]
}

/** What axe finds wrong with the page as it stands, each with where. Its context must let scripts in (`bypassCSP`). */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(source)
  const violations: Violation[] = await page.evaluate('axe.run().then((results) => results.violations)')
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}
