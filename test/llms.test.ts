import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { llmsIndex } from '../.ci/llms.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .map((name) => `docs/${name}`)

describe('llms.txt', () => {
  test('is what `npm run build` makes of docs/', () => {
    expect(readFileSync(join(root, 'llms.txt'), 'utf8')).toBe(llmsIndex())
  })

  test('begins with the name and what it is, then lists every page once under a heading', () => {
    const [title, gap, summary] = llmsIndex().split('\n')
    expect([title, gap]).toEqual(['# Latchkey', ''])
    expect(summary).toMatch(/^> .{40,}/)
    const listed = [...llmsIndex().matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) => path)
    expect(listed.sort()).toEqual(pages.sort())
  })
})
