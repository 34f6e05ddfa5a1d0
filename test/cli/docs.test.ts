import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { commands } from '../../src/cli/commands/index.js'

const page = readFileSync(fileURLToPath(new URL('../../docs/guides/command-line.md', import.meta.url)), 'utf8')
const rows = [...page.matchAll(/^\| `([a-z][\w -]*?)(?: [<[].*?)?` \| (?:remote|local|)/gm)]

test('the commands of the docs are those of the tool, in its order', () => {
  expect(rows.map(([, name]) => name)).toEqual(commands.map(([name]) => name))
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
