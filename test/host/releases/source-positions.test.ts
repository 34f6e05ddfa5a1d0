import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import * as esbuild from 'esbuild'
import { describe, expect, test } from 'vitest'
import { findBoundary } from '../../../src/cli/bundle/boundary.js'
import { bundleCode } from '../../../src/cli/bundle/bundle-code.js'
import { mapError } from '../../../src/host/releases/source-positions.js'
import { bundleProject } from '../../support/bundle-project.js'

/** The stack of the error with which the import of a bundle fails, and its map. */
async function failedImport(files: Readonly<Record<string, string>>, change = (code: string) => code) {
  const folder = await bundleProject(files)
  const { code, map } = await bundleCode(esbuild, folder, 'index.js', findBoundary(folder, '/nonexistent'))
  const bundle = join(folder, '../bundle.mjs')
  await writeFile(bundle, change(Buffer.from(code).toString()))
  const script = `import(${JSON.stringify(pathToFileURL(bundle).href)}).catch((error) => console.log(error.stack))`
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script])
  return { stack: stdout, bundle, map: Buffer.from(map).toString() }
}

describe('an error of a bundle', () => {
  test('is shown by the files of its project, without a path of the host', async () => {
    const error = await failedImport({
      'index.js': "import { connect } from './lib/connect.js'\n\nexport default connect()",
      'lib/connect.js': "/** Comment. */\nexport function connect() {\n  throw new Error('No such database')\n}",
    })
    const { stack, place } = mapError(error)
    expect(place).toBe('lib/connect.js:3:9')
    expect(stack).toContain('Error: No such database')
    expect(stack).toContain('lib/connect.js:3:9')
    expect(stack).toMatch(/index\.js:3:\d+/)
    expect(stack).not.toContain(error.bundle)
  })

  test('in a package has its place where the project calls it', async () => {
    const error = await failedImport({
      'index.js': "import make from 'maker'\nexport default make()",
      'node_modules/maker/index.js': "module.exports = () => {\n  throw new TypeError('no options')\n}",
    })
    const { stack, place } = mapError(error)
    expect(place).toMatch(/^index\.js:2:\d+$/)
    expect(stack).toContain('node_modules/maker/index.js:2:9')
  })

  test('without a useful map keeps its places in the bundle', async () => {
    const error = await failedImport({ 'index.js': "throw new Error('early')" })
    for (const map of [
      '',
      '{',
      '{}',
      '[]',
      '{"version":3,"sources":[],"mappings":"!!!"}',
      '{"version":3,"sources":["a"],"mappings":"A"}',
    ]) {
      const { stack } = mapError({ ...error, map })
      expect(stack).toContain('Error: early')
      expect(stack).not.toContain(error.bundle)
    }
    expect(mapError({ ...error, map: '' }).place).toBeNull()
    expect(mapError({ ...error, map: '' }).stack).toMatch(/bundle\.mjs:\d+:\d+/)
  })

  test('of any length and form is mapped in one pass and cut', () => {
    const bundle = '/a (b)/[c]+.mjs'
    const stack = `${bundle}:1:1\n`.repeat(5000)
    const mapped = mapError({ stack, bundle, map: '' })
    expect(mapped.stack.length).toBeLessThanOrEqual(16 * 1024 + bundle.length)
    expect(mapped.stack.startsWith('bundle.mjs:1:1\nbundle.mjs:1:1\n')).toBe(true)
    expect(mapError({ stack: 'Error: plain', bundle, map: '' })).toEqual({ stack: 'Error: plain', place: null })
  })

  test('has no escape sequence of its map in a place', () => {
    const map = JSON.stringify({ version: 3, sources: ['\u001b[2J\nindex.js'], names: [], mappings: 'AAAA' })
    const { place } = mapError({ stack: 'Error\n    at /x/bundle.mjs:1:1', bundle: '/x/bundle.mjs', map })
    expect(place).toBe('[2J index.js:1:1')
  })
})
