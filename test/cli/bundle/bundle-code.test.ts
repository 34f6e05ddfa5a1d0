import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findBoundary } from '../../../src/cli/bundle/boundary.js'
import { bundleCode } from '../../../src/cli/bundle/bundle-code.js'
import { ToolError } from '../../../src/cli/tool-error.js'
import { secretsForEnvironment } from '../../support/application-folder.js'
import { bundleProject, importAlone } from '../../support/bundle-project.js'

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

async function bundled(folder: string, entry = 'index.js') {
  const { code, map, ...rest } = await bundleCode(esbuild, folder, entry, findBoundary(folder, '/nonexistent'))
  const place = await mkdtemp(join(tmpdir(), 'latchkey-bundled-'))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  await writeFile(join(place, 'bundle.mjs'), code)
  await writeFile(join(place, 'bundle.mjs.map'), map)
  return {
    ...rest,
    file: join(place, 'bundle.mjs'),
    code: Buffer.from(code).toString(),
    map: Buffer.from(map).toString(),
  }
}

/** Message and lines of the refusal. */
async function refusal(folder: string, entry = 'index.js', home = '/nonexistent'): Promise<string> {
  const error = await bundleCode(esbuild, folder, entry, findBoundary(folder, home)).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolError)) throw error
  expect([error.exitCode, error.code]).toEqual([1, 'bundle_failed'])
  return [error.message, ...(error.details.lines ?? [])].join('\n')
}

describe('a bundle', () => {
  test('of the codehooks example exports its manifest, in a process that has nothing else', async () => {
    const { file, modules, map } = await bundled(root, 'examples/codehooks/index.js')
    const hooks = 'Object.keys(found.default.routehooks).concat(Object.keys(found.default.authhooks))'
    const keys = await importAlone(file, hooks, secretsForEnvironment())
    expect(keys).toEqual(expect.arrayContaining(['* /auth/*', 'GET /api/:collection', '/api/*']))
    expect(modules).toBeGreaterThan(100)
    expect(JSON.parse(map).sources).toContain('examples/codehooks/index.js')
  })

  test('may require modules of Node from CommonJS, and know its folder', async () => {
    const folder = await bundleProject({
      'index.js': "import old from 'old'\nexport default old",
      'node_modules/old/package.json': '{ "name": "old", "main": "main.js" }',
      'node_modules/old/main.js': `
        let optional = 'none'
        try { optional = require('not-installed') } catch {}
        module.exports = [require('fs') === require('node:fs'), typeof __dirname, __filename.endsWith('bundle.mjs'), optional]`,
    })
    expect(await importAlone((await bundled(folder)).file, 'found.default')).toEqual([true, 'string', true, 'none'])
  })

  test('may declare require and __dirname itself, as ES modules do', async () => {
    const folder = await bundleProject({
      'index.js': `
        import { createRequire } from 'node:module'
        import { dirname } from 'node:path'
        import { fileURLToPath } from 'node:url'
        const require = createRequire(import.meta.url)
        const __filename = fileURLToPath(import.meta.url)
        const __dirname = dirname(__filename)
        export default [require('node:path').sep, __dirname.length > 1]`,
    })
    expect(await importAlone((await bundled(folder)).file, 'found.default')).toEqual(['/', true])
  })

  test('has TypeScript, JSON and texts in it', async () => {
    const folder = await bundleProject({
      'index.ts': `
        import hello from './hello.hbs'
        import page from './page.html'
        import style from './style.css'
        import notes from './notes.md'
        import plain from './plain.txt'
        import { name } from './package.json'
        const all: string[] = [hello, page, style, notes, plain, name]
        export default all`,
      'hello.hbs': 'Hello {{name}}',
      'page.html': '<p>',
      'style.css': 'a{}',
      'notes.md': '# N',
      'plain.txt': 'Ä',
      'package.json': '{ "name": "shop" }',
      'tsconfig.json': '{ "compilerOptions": { "strict": true } }',
    })
    const all = ['Hello {{name}}', '<p>', 'a{}', '# N', 'Ä', 'shop']
    expect(await importAlone((await bundled(folder, 'index.ts')).file, 'found.default')).toEqual(all)
  })

  test('holds no path of the machine, and the same files give the same bytes wherever they are', async () => {
    const files = {
      'index.js': "import a from './lib/a.js'\nimport b from 'b'\nexport default a + b",
      'lib/a.js': 'export default 1',
      'node_modules/b/index.js': 'module.exports = 2',
    }
    const [first, second] = await Promise.all([bundleProject(files), bundleProject(files)])
    const [one, other] = await Promise.all([bundled(first), bundled(second)])
    expect([one.code, one.map]).toEqual([other.code, other.map])
    expect(one.code + one.map).not.toContain(first)
    expect(JSON.parse(one.map).sources).toEqual(['node_modules/b/index.js', 'lib/a.js', 'index.js'])
  })

  test('takes no compiler settings from a folder above', async () => {
    const folder = await bundleProject({ 'index.ts': 'export default class { a = 1 }' })
    const { code } = await bundled(folder, 'index.ts')
    await writeFile(join(folder, '../tsconfig.json'), '{ "compilerOptions": { "useDefineForClassFields": false } }')
    expect((await bundled(folder, 'index.ts')).code).toBe(code)
  })

  test('gets ajv for codehooks-js where the project lacks it, and for no other package', async () => {
    const files = {
      'index.js': "export { default } from 'codehooks-js'",
      'node_modules/codehooks-js/index.mjs':
        "import Ajv from 'ajv'\nexport default new Ajv().validate({ type: 'string' }, 'text')",
      'node_modules/codehooks-js/package.json': '{ "name": "codehooks-js", "main": "index.mjs" }',
    }
    expect(await importAlone((await bundled(await bundleProject(files))).file, 'found.default')).toBe(true)
    const folder = await bundleProject({ 'index.js': "import Ajv from 'ajv'\nexport default Ajv" })
    expect(await refusal(folder)).toContain('index.js:1:17: Could not resolve "ajv"')
  })
})

describe('a bundle is refused', () => {
  test('with file and line of each error', async () => {
    const folder = await bundleProject({
      'index.js': "import './broken.js'\nimport _ from 'lodash'\nexport default _",
      'broken.js': 'const a = 1\nconst b = = 2\n',
    })
    expect((await refusal(folder)).split('\n')).toEqual([
      'The application cannot be bundled.',
      expect.stringMatching(/^broken\.js:2:11: Unexpected "="/),
      expect.stringMatching(/^index\.js:2:15: Could not resolve "lodash"/),
      expect.any(String),
    ])
  })

  test('ATK-144 when it imports a file outside the folder, by path, link or pattern', async () => {
    const folder = await bundleProject({
      'up.js': "import '../secret.js'",
      'absolute.js': "import text from '/etc/hostname.txt'",
      'link.js': "import text from './link.txt'\nexport default text",
      'folder.js': "import text from './linked/secret.js'",
      'pattern.js': "export default (name) => import('../other/' + name + '.js')",
      'pattern-of-links.js': "export default (name) => import('./links/' + name + '.js')",
      'links/fine.js': 'export default 1',
    })
    await writeFile(join(folder, '../secret.js'), 'export default "hunter2"')
    await writeFile(join(folder, '../secret.txt'), 'hunter2')
    await mkdir(join(folder, '../other'))
    await writeFile(join(folder, '../other/one.js'), 'export default "hunter2"')
    await symlink(join(folder, '../secret.txt'), join(folder, 'link.txt'))
    await symlink(join(folder, '..'), join(folder, 'linked'))
    await symlink(join(folder, '../secret.js'), join(folder, 'links/secret.js'))
    expect(await refusal(folder, 'up.js')).toMatch(/up\.js:1:8: "\.\.\/secret\.js" is .*\/secret\.js, outside /)
    expect(await refusal(folder, 'link.js')).toMatch(/link\.js:1:18: "\.\/link\.txt" is .*\/secret\.txt, outside /)
    expect(await refusal(folder, 'folder.js')).toMatch(/folder\.js:1:18: .*outside /)
    expect(await refusal(folder, 'absolute.js')).toMatch(/absolute\.js:1:18: /)
    expect(await refusal(folder, 'pattern.js')).toMatch(/other\/one\.js cannot be part of the bundle/)
    expect(await refusal(folder, 'pattern-of-links.js')).toMatch(/outside |cannot be part of the bundle/)
  })

  test('ATK-144 when a package is in a folder above, with what to do', async () => {
    const folder = await bundleProject({
      'index.js': "import b from 'b'\nexport default b",
      'node_modules/b/index.js': 'module.exports = 2',
    })
    await rename(join(folder, 'node_modules'), join(folder, '../node_modules'))
    const message = await refusal(folder)
    expect(message).toMatch(/index\.js:1:15: The package b is in .*\/node_modules\/b, outside .*\/app\./)
    expect(message).toContain('Install it in the project: npm install b, or name the folder above with --dir')
  })

  test('ATK-144 when a package is linked from elsewhere', async () => {
    const folder = await bundleProject({ 'index.js': "import b from 'b'\nexport default b", 'node_modules/x': '' })
    await mkdir(join(folder, '../b'))
    await writeFile(join(folder, '../b/index.js'), 'module.exports = 2')
    await symlink(join(folder, '../b'), join(folder, 'node_modules/b'))
    expect(await refusal(folder)).toMatch(/index\.js:1:15: "b" is .*\/b\/index\.js, outside /)
  })

  test.each([
    ['binding.gyp', { 'node_modules/fast/binding.gyp': '{}' }],
    ['napi', { 'node_modules/fast/package.json': '{ "name": "fast", "main": "index.js", "napi": {} }' }],
    ['bindings', { 'node_modules/fast/package.json': '{ "main": "index.js", "dependencies": { "bindings": "1" } }' }],
  ])('ATK-160 when it imports a native addon (%s), by name', async (_kind, files) => {
    const folder = await bundleProject({
      'index.js': "import './db.js'",
      'db.js': "\nimport fast from 'fast'\nexport default fast",
      'node_modules/fast/index.js': 'module.exports = 1',
      ...files,
    })
    expect(await refusal(folder)).toContain('db.js:2:18: fast is a native addon, which a space cannot load.')
  })

  test('ATK-160 when a package requires a compiled file', async () => {
    const folder = await bundleProject({
      'index.js': "import '@scope/fast'",
      'node_modules/@scope/fast/index.js': "module.exports = require('./build/fast.node')",
      'node_modules/@scope/fast/build/fast.node': 'ELF',
    })
    expect(await refusal(folder)).toContain('@scope/fast is a native addon')
  })
})
