import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findBoundary } from '../../../src/cli/bundle/boundary.js'
import { makeRelease } from '../../../src/cli/bundle/make-release.js'
import { ToolError } from '../../../src/cli/tool-error.js'
import { importAlone } from '../../support/bundle-project.js'

type Files = Readonly<Record<string, string>>

/** A folder with these files. A value that begins with `→` is a link. */
async function tree(files: Files): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-workspace-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    if (content.startsWith('→')) await symlink(content.slice(1), join(root, name))
    else await writeFile(join(root, name), content)
  }
  return root
}

const made = (folder: string, homeFolder = '/nonexistent') => makeRelease({ folder, homeFolder })

/** What the bundle of the project exports, when it runs without any of these folders. */
async function bundledValue(folder: string): Promise<unknown> {
  const { archive } = await made(folder)
  const place = await tree({})
  execFileSync('tar', ['-xzf', '-', '-C', place], { input: archive })
  return importAlone(join(place, 'bundle.mjs'), 'found.default')
}

/** Message and lines of the refusal. */
async function refusal(folder: string, homeFolder?: string): Promise<string> {
  const error = await made(folder, homeFolder).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolError)) throw new Error(`not refused: ${error}`)
  return [error.message, ...(error.details.lines ?? [])].join('\n')
}

const hoisted = {
  'node_modules/left/package.json': '{"name":"left"}',
  'node_modules/left/index.js': 'module.exports = 1',
}
const api = {
  'apps/api/index.js': "import left from 'left'\nexport default left",
  'apps/api/package.json': '{"name":"api"}',
}
const util = {
  'packages/util/package.json': '{"name":"@acme/util","exports":{".":"./src/index.ts","./deep/*":"./deep/*"}}',
  'packages/util/src/index.ts': "import left from 'left'\nexport const sum: number = left + 1",
  'packages/util/deep/note.txt': 'deep',
}
const importsUtil = {
  'apps/api/index.js':
    "import { sum } from '@acme/util'\nimport note from '@acme/util/deep/note.txt'\nexport default sum + note",
}

describe('ATK-245 a deploy from a workspace', () => {
  test.each<[string, string, Files]>([
    [
      'npm',
      'package-lock.json',
      { 'package-lock.json': '{}', 'package.json': '{"workspaces":["apps/*","packages/*"]}' },
    ],
    ['yarn', 'yarn.lock', { 'yarn.lock': '', 'package.json': '{"workspaces":{"packages":["apps/*"]}}' }],
    ['bun', 'bun.lock', { 'bun.lock': '', 'package.json': '{"workspaces":["apps/*"]}' }],
    ['no lock file', 'workspaces in package.json', { 'package.json': '{"workspaces":["apps/*"]}' }],
    ['a repository', '.git', { '.git/HEAD': 'ref: refs/heads/main' }],
    ['a worktree', '.git', { '.git': 'gitdir: /elsewhere' }],
  ])('with hoisted packages works (%s), and names the folder and its sign', async (_manager, sign, files) => {
    const root = await tree({
      ...files,
      ...hoisted,
      ...api,
      ...util,
      ...importsUtil,
      'node_modules/@acme/util': '→../../packages/util',
    })
    expect(await bundledValue(join(root, 'apps/api'))).toBe('2deep')
    const { packagesFrom, manifest } = await made(join(root, 'apps/api'))
    expect(packagesFrom).toEqual({ folder: root, sign })
    expect(manifest.files.map(({ path }) => path)).toEqual([
      'bundle.mjs',
      'bundle.mjs.map',
      'assets/index.js',
      'assets/package.json',
    ])
  })

  test('of pnpm works: packages lie in a store below node_modules, and each package has links of its own', async () => {
    const root = await tree({
      'pnpm-lock.yaml': '',
      'pnpm-workspace.yaml': 'packages: ["apps/*", "packages/*"]',
      'node_modules/.pnpm/left@1.0.0/node_modules/left/index.js': "module.exports = require('right')",
      'node_modules/.pnpm/left@1.0.0/node_modules/right': '→../../right@1.0.0/node_modules/right',
      'node_modules/.pnpm/right@1.0.0/node_modules/right/index.js': 'module.exports = 1',
      ...api,
      ...util,
      ...importsUtil,
      'packages/base/package.json': '{"name":"base"}',
      'packages/base/index.js': 'export default 10',
      'packages/util/src/index.ts':
        "import left from 'left'\nimport base from 'base'\nexport const sum: number = left + base",
      'packages/util/node_modules/left': '→../../../node_modules/.pnpm/left@1.0.0/node_modules/left',
      'packages/util/node_modules/base': '→../../base',
      'apps/api/node_modules/@acme/util': '→../../../../packages/util',
    })
    expect(await bundledValue(join(root, 'apps/api'))).toBe('11deep')
    expect((await made(join(root, 'apps/api'))).packagesFrom).toEqual({ folder: root, sign: 'pnpm-lock.yaml' })
  })

  test('ends at a lock file of the project itself, and the refusal says so', async () => {
    const root = await tree({ 'package-lock.json': '{}', 'apps/api/package-lock.json': '{}', ...hoisted, ...api })
    const message = await refusal(join(root, 'apps/api'))
    expect(message).toContain(
      `index.js:1:18: The package left is in ${root}/node_modules/left, outside ${root}/apps/api.`,
    )
    expect(message).toContain('Packages are taken from the project alone, the nearest folder with a lock file')
  })

  test('ends at the nearest folder with a sign', async () => {
    const root = await tree({ 'package-lock.json': '{}', 'apps/.git/HEAD': '', ...hoisted, ...api })
    expect(await refusal(join(root, 'apps/api'))).toContain(`Packages are taken from ${root}/apps, the nearest folder`)
  })
})

describe('ATK-245 a release takes nothing else from above its folder', () => {
  const workspace = { 'package-lock.json': '{}', ...hoisted, ...api, ...util }

  test.each<[string, Files, RegExp]>([
    ['a key', { 'apps/api/index.js': "\nimport key from '../../.ssh/id_rsa'" }, /index\.js:2:17: .*\.ssh\/id_rsa/],
    [
      'a text',
      { 'apps/api/index.js': "import key from '../../.ssh/key.txt'\nexport default key" },
      /index\.js:1:17: "\.\.\/\.\.\/\.ssh\/key\.txt" is /,
    ],
    [
      'code of the root',
      { 'apps/api/index.js': "import '../../tool.js'" },
      /index\.js:1:8: "\.\.\/\.\.\/tool\.js" is /,
    ],
    [
      'code of another application',
      { 'apps/api/index.js': "import '../other/index.js'" },
      /index\.js:1:8: "\.\.\/other\/index\.js" is /,
    ],
    [
      'a package that is not linked',
      { 'apps/api/index.js': "import '../../packages/util/src/index.ts'" },
      /index\.js:1:8: .*packages\/util/,
    ],
    [
      'a link to a folder around the project',
      { 'node_modules/all': '→..', 'apps/api/index.js': "import 'all/tool.js'" },
      /index\.js:1:8: "all\/tool\.js" is .*\/tool\.js, outside /,
    ],
    [
      'a package that is linked from outside of the boundary',
      { 'node_modules/far': '→/etc', 'apps/api/index.js': "import 'far/passwd'" },
      /index\.js:1:8: "far\/passwd" is \/etc\/passwd, outside /,
    ],
    [
      'what looks like a secret in a package',
      {
        'node_modules/@acme/util': '→../../packages/util',
        'packages/util/deep/.env.txt': 'hunter2',
        'apps/api/index.js': "import text from '@acme/util/deep/.env.txt'\nexport default text",
      },
      /index\.js:1:18: .*\.env\.txt/,
    ],
    [
      'a pattern',
      { 'apps/api/index.js': "export default (name) => import('../other/' + name + '.js')" },
      /apps\/other\/index\.js cannot be part of the bundle/,
    ],
  ])('%s is refused with the line', async (_what, files, expected) => {
    const root = await tree({
      ...workspace,
      '.ssh/id_rsa': 'hunter2',
      '.ssh/key.txt': 'hunter2',
      'tool.js': '',
      'apps/other/index.js': '',
      ...files,
    })
    expect(await refusal(join(root, 'apps/api'))).toMatch(expected)
  })
})

describe('a folder that is never a boundary', () => {
  const files = { 'me/package-lock.json': '{}', 'me/node_modules/left/index.js': 'module.exports = 1' }
  const project = { 'me/code/api/index.js': api['apps/api/index.js'], 'me/code/api/package.json': '{}' }

  test('is the home folder: its .git holds the dotfiles of a person', async () => {
    const root = await tree({ ...files, ...project })
    const message = await refusal(join(root, 'me/code/api'), join(root, 'me'))
    expect(message).toContain(`outside ${root}/me/code/api.`)
    expect(message).toContain(
      `${root}/me has package-lock.json, but no packages are taken from there: it is your home folder. Put the workspace into a folder of its own.`,
    )
  })

  test('is a folder around the home folder', async () => {
    const root = await tree({ ...files, ...project })
    expect(await refusal(join(root, 'me/code/api'), join(root, 'me/home'))).toContain('it holds your home folder')
  })

  test('is a folder to which all users can write', async () => {
    const root = await tree({ ...files, ...project })
    await chmod(join(root, 'me'), 0o1777)
    expect(await refusal(join(root, 'me/code/api'))).toContain('every user of this machine can write to it')
  })

  test('a project that needs nothing from there is deployed', async () => {
    const root = await tree({ ...files, ...project, 'me/code/api/node_modules/left/index.js': 'module.exports = 2' })
    expect(await made(join(root, 'me/code/api'), join(root, 'me'))).toMatchObject({ packagesFrom: null })
    const atHome = await tree({ 'index.js': 'export default 1', '.git/HEAD': '' })
    expect(await made(atHome, atHome)).toMatchObject({ packagesFrom: null })
  })
})

test('the search ends at the root of the file system when that is the project', () => {
  expect(findBoundary('/', '/root')).toMatchObject({ folder: '/', refused: null })
})
