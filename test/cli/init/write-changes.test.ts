import { execFile } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../../src/cli/init/change.js'
import { diffOf } from '../../../src/cli/init/diff.js'
import { openProject } from '../../../src/cli/init/project.js'
import { type Disk, writeChanges } from '../../../src/cli/init/write-changes.js'

const run = promisify(execFile)
const changes: readonly Change[] = [
  { path: 'src/deep/index.js', before: null, after: 'new\n', isSecret: false },
  { path: 'app.js', before: 'old\r\n', after: 'old\r\nnew\r\n', isSecret: false },
  {
    path: '.env',
    before: 'DATABASE_URL=mysql://a:b@c\n',
    after: 'DATABASE_URL=mysql://a:b@c\nA_SECRET=xyz\n',
    isSecret: true,
  },
  { path: 'latchkey.config.js', before: null, after: 'settings\n', isSecret: false },
]
let folder: string

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'latchkey-write-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  for (const { path, before } of changes) if (before !== null) fs.writeFileSync(join(folder, path), before)
  fs.chmodSync(join(folder, 'app.js'), 0o755)
  fs.chmodSync(join(folder, '.env'), 0o644)
})

/** Every file below the folder, with its mode and text. */
function content(): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    names.sort().map((name) => {
      const stats = fs.statSync(join(folder, name))
      const text = stats.isFile() ? fs.readFileSync(join(folder, name), 'utf8') : ''
      return [name, `${(stats.mode & 0o777).toString(8)} ${text}`]
    }),
  )
}

test('files keep their modes, new ones are not for others to write, and .env is for its owner only', () => {
  writeChanges(folder, changes)
  expect(content()).toEqual({
    '.env': '600 DATABASE_URL=mysql://a:b@c\nA_SECRET=xyz\n',
    'app.js': '755 old\r\nnew\r\n',
    'latchkey.config.js': '644 settings\n',
    src: expect.any(String),
    'src/deep': expect.any(String),
    'src/deep/index.js': '644 new\n',
  })
})

/** node:fs, whose nth call that changes something fails as on a full disk. */
function failingDisk(failing: number): { disk: Disk; calls: () => number } {
  let calls = 0
  const fail = <T>(step: () => T): T => {
    calls += 1
    if (calls === failing) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    return step()
  }
  const disk: Disk = {
    ...fs,
    copyFileSync: (...given) => fail(() => fs.copyFileSync(...given)),
    renameSync: (...given) => fail(() => fs.renameSync(...given)),
    chmodSync: (...given) => fail(() => fs.chmodSync(...given)),
    writeFileSync: (...given) => fail(() => fs.writeFileSync(...given)),
  }
  return { disk, calls: () => calls }
}

test('a full disk at any moment leaves the folder as it was, without drafts', () => {
  const before = content()
  const total = changes.length * 3 + 2
  for (let failing = 1; failing <= total; failing += 1) {
    const { disk, calls } = failingDisk(failing)
    expect(() => writeChanges(folder, changes, disk), `call ${failing}`).toThrow('ENOSPC')
    expect(content(), `call ${failing}`).toEqual(before)
    expect(calls()).toBeGreaterThanOrEqual(failing)
  }
  const { disk, calls } = failingDisk(total + 1)
  writeChanges(folder, changes, disk)
  expect(calls()).toBe(total)
})

test('what cannot be undone is named, with the place of the former file', () => {
  const { disk } = failingDisk(0)
  const stuck: Disk = {
    ...disk,
    renameSync(from, to) {
      if (String(to).endsWith('latchkey.config.js') || String(from).endsWith('.before'))
        throw new Error('EIO: i/o error')
      fs.renameSync(from, to)
    },
  }
  expect(() => writeChanges(folder, changes, stuck)).toThrow(
    /EIO: i\/o error\. Not everything could be undone\. The former .*\.env is in /,
  )
  const backup = fs.readdirSync(folder).find((name) => name.startsWith('.env.') && name.endsWith('.before')) ?? ''
  expect(fs.readFileSync(join(folder, backup), 'utf8')).toBe('DATABASE_URL=mysql://a:b@c\n')
})

test('a file that changed after the plan stays as it is', () => {
  fs.writeFileSync(join(folder, 'latchkey.config.js'), 'mine\n')
  const before = content()
  expect(() => writeChanges(folder, changes)).toThrow('latchkey.config.js has changed meanwhile. Nothing was changed.')
  expect(content()).toEqual(before)
})

test('a read-only folder is reported, and nothing is left in it', async () => {
  fs.chmodSync(folder, 0o555)
  const before = content()
  // As a user without the rights of root.
  const program = `import('${new URL('../../../.build/cli/init/write-changes.js', import.meta.url)}').then(({ writeChanges }) =>
    writeChanges(process.argv[1], JSON.parse(process.argv[2])))`
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const given = JSON.stringify([{ path: 'index.js', before: null, after: 'a', isSecret: false }])
  await expect(run('node', ['-e', program, folder, given], user)).rejects.toMatchObject({
    stderr: expect.stringMatching(/EACCES[^\n]*Nothing was changed\./),
  })
  expect(content()).toEqual(before)
  fs.chmodSync(folder, 0o755)
})

test('the diff shows new lines with their neighbours, and of .env neither former lines nor secrets', () => {
  const long = ['a', 'b', 'c', 'd', 'e', 'f'].join('\r\n')
  const changed = { path: 'app.js', before: long, after: long.replace('d', 'd\r\nnew'), isSecret: false }
  expect(diffOf([changed])).toEqual(['changed app.js', '  …', '    c', '    d', '  + new', '    e', '    f', ''])
  expect(diffOf(changes.slice(2, 3))).toEqual(['changed .env (mode 0600)', '  + A_SECRET=…', ''])
  expect(diffOf(changes.slice(3))).toEqual(['new file latchkey.config.js', '  + settings', ''])
})

test('a folder is read without packages, build output, hidden folders and links, and knows the nearest lock file', () => {
  const inner = join(folder, 'packages/api')
  for (const path of ['node_modules/a', 'dist', '.git', 'src']) fs.mkdirSync(join(inner, path), { recursive: true })
  for (const path of ['node_modules/a/index.js', 'dist/index.js', '.git/a.js', 'src/a.js'])
    fs.writeFileSync(join(inner, path), '')
  fs.writeFileSync(join(folder, 'pnpm-lock.yaml'), '')
  fs.symlinkSync(join(folder, 'app.js'), join(inner, 'link.js'))
  fs.writeFileSync(join(inner, 'latin.js'), Buffer.from([0xe9]))
  const project = openProject(inner)
  expect([...project.paths].sort()).toEqual(['latin.js', 'src/a.js'])
  expect(project.lockFiles).toEqual(['pnpm-lock.yaml'])
  expect([project.kindOf('link.js'), project.kindOf('src'), project.kindOf('none')]).toEqual([
    'other',
    'other',
    'missing',
  ])
  expect([project.read('link.js'), project.read('latin.js'), project.read('src')]).toEqual(['old\r\n', null, null])
})
