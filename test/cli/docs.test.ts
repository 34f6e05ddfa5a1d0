import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.js'

const read = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/guides/${name}.md`, import.meta.url)), 'utf8')
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| `([a-z][\w -]*?)(?: [<[].*?)?` \| (?:remote|local|)/gm)].map(([, name]) => name)
const pages = [read('command-line'), read('command-line-host')]
const page = pages.join('\n')

test('the commands of the tool are each on one of two pages, in its order', () => {
  const names = commands.map(([name]) => name)
  for (const text of pages) expect(rowsOf(text)).toEqual(names.filter((name) => rowsOf(text).includes(name)))
  expect(pages.flatMap(rowsOf).sort()).toEqual(names.toSorted())
})

test.each(commands.map(([name, , load]) => ({ name, load })))(
  'the row of $name has all its options',
  async ({ name, load }) => {
    const command = new Command(name)
    const file = await load()
    file.define(command, () => {
      throw new Error('no action runs here')
    })
    const row = page.split('\n').find((line) => new RegExp(`^\\| \`${name}(?:\`| [<[])`).test(line)) ?? ''
    const documented = row.includes('The same filters')
      ? row + (page.split('\n').find((line) => line.startsWith('| `audit`')) ?? '')
      : row
    const names = command.options.map(({ long, short }) => (documented.includes(`${short} `) ? short : long))
    expect(names.filter((option) => !documented.includes(option ?? '?'))).toEqual([])
  },
)
