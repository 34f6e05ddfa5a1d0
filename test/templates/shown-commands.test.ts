import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/program.js'
import { hostSamples } from '../../src/templates/host-samples.js'

const folder = fileURLToPath(new URL('../../templates/admin', import.meta.url))
const texts = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
const written = texts.flatMap((text) =>
  [...text.matchAll(/command='([^']+)'|<code>latchkey ([^<]+)<\/code>/g)].map(
    ([, ofEmpty, inText]) => ofEmpty ?? inText,
  ),
)
const shown = [...written, String(hostSamples['admin/documents']?.queryCommand)].flatMap((text = '') => {
  const line = text.replaceAll(/\{\{#if[^}]*\}\}|\{\{\/if\}\}/g, '').replaceAll('{{space}}', 'dev')
  return line.includes('{{') ? [] : [line.replaceAll(/(?:<|&lt;)(\w+)(?:>|&gt;)/g, 'given-$1')]
})
const commands = [...new Set(shown)]

test('admin pages show commands', () => {
  expect(commands).toContain('teams create given-name')
  expect(commands).toContain('restore given-file --space dev')
  expect(commands).toContain('query orders')
})

test.each(commands)('the tool takes what a page shows: latchkey %s', async (command) => {
  const opened = new Error('The command has what it needs.')
  const openTool = () => {
    throw opened
  }
  const program = createProgram({ version: '0.0.0', openTool, write: { out: () => {}, err: () => {} } })
  await expect(program.parseAsync(command.split(' '), { from: 'user' })).rejects.toBe(opened)
})
