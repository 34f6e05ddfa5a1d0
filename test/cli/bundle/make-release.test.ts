import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeRelease } from '../../../src/cli/bundle/make-release.js'
import { loadBundlePackages } from '../../../src/cli/bundle/packages.js'
import { unpackRelease } from '../../../src/host/releases/unpack.js'
import { defaultReleaseLimits } from '../../../src/model/release.js'
import { bundleProject, importAlone } from '../../support/bundle-project.js'

const homeFolder = '/nonexistent'

const application = {
  'index.js': "import text from './greeting.txt'\nexport default { text }",
  'greeting.txt': 'Hello',
}

async function assetsOf(folder: string): Promise<string[]> {
  const { manifest } = await makeRelease({ homeFolder, folder })
  return manifest.files.map(({ path }) => path).filter((path) => path.startsWith('assets/'))
}

async function* whole(archive: Uint8Array) {
  yield archive
}

describe('a release', () => {
  test('that the tool makes is one that the host unpacks, and it runs', async () => {
    const folder = await bundleProject({
      ...application,
      'public/grüße.html': '<p>Grüße</p>',
      'public/image.bin': new Uint8Array([0, 255, 10]),
    })
    const { archive, manifest, entry, modules, codeBytes, warnings } = await makeRelease({ homeFolder, folder })
    expect([entry, modules, warnings]).toEqual(['index.js', 2, []])
    const unpacked = await unpackRelease(
      whole(archive),
      { folder: join(folder, '..'), number: 1 },
      defaultReleaseLimits,
    )
    expect(unpacked).toEqual(manifest)
    const release = join(folder, '../1')
    expect(await importAlone(join(release, 'bundle.mjs'), 'found.default')).toEqual({ text: 'Hello' })
    expect((await readFile(join(release, 'bundle.mjs'))).length).toBe(codeBytes)
    expect(await readFile(join(release, 'assets/public/grüße.html'), 'utf8')).toBe('<p>Grüße</p>')
    expect([...(await readFile(join(release, 'assets/public/image.bin')))]).toEqual([0, 255, 10])
    expect(manifest.git).toBeNull()
    expect(manifest.tool).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('is an archive that other programs read', async () => {
    const folder = await bundleProject(application)
    const { archive } = await makeRelease({ homeFolder, folder })
    const listed = execFileSync('tar', ['-tzf', '-'], { input: archive }).toString().trim().split('\n')
    const paths = ['release.json', 'bundle.mjs', 'bundle.mjs.map', 'assets/greeting.txt', 'assets/index.js']
    expect(listed).toEqual(paths)
  })

  test('has the same bytes for the same files, whatever their folder, times and modes', async () => {
    const files = { ...application, 'b/2.txt': '2', 'a/1.txt': '1', 'Z.txt': '3' }
    const [first, second] = await Promise.all([bundleProject(files), bundleProject(files)])
    await utimes(join(second, 'index.js'), 1, 1)
    await chmod(join(second, 'a/1.txt'), 0o600)
    const made = await Promise.all([
      makeRelease({ homeFolder, folder: first }),
      makeRelease({ homeFolder, folder: second }),
    ])
    expect(made[0].archive.equals(made[1].archive)).toBe(true)
  })

  test('may be asked for by a link to its folder', async () => {
    const folder = await bundleProject(application)
    await symlink(folder, join(folder, '../link'))
    expect((await makeRelease({ homeFolder, folder: join(folder, '../link') })).entry).toBe('index.js')
    await expect(makeRelease({ homeFolder, folder: join(folder, 'nope') })).rejects.toMatchObject({ exitCode: 2 })
  })
})

describe('the assets of a release', () => {
  test('are all files but packages, dotfiles and secrets, and the secrets are named', async () => {
    const secrets = [
      'certs/server.pem',
      'certs/SERVER.KEY',
      'latchkey.config.js',
      'latchkey.host.json',
      'app.db',
      'app.db-wal',
      'app.sqlite3',
      'secrets.json',
      'master.key',
      'id_ed25519',
      'store.p12',
      'latchkey-data/host.lock',
      '.env',
      '.env.production',
      'deep/.env.local',
    ]
    const left = ['node_modules/a/index.js', 'lib/node_modules/b/x.js', '.git/config', '.npmrc', '.cache/x']
    const kept = ['public/.well-known/security.txt', 'public/index.html', 'views/mail.hbs', 'keys.txt', 'db.js']
    const folder = await bundleProject({
      ...application,
      ...Object.fromEntries([...secrets, ...left, ...kept].map((path) => [path, 'hunter2'])),
    })
    const { manifest, archive, warnings } = await makeRelease({ homeFolder, folder })
    const assets = manifest.files.map(({ path }) => path).filter((path) => path.startsWith('assets/'))
    expect(assets.sort()).toEqual([...kept, ...Object.keys(application)].map((path) => `assets/${path}`).sort())
    expect(warnings.map((line) => line.split(' ')[0]).sort()).toEqual(
      secrets.map((path) => (path.startsWith('latchkey-data') ? 'latchkey-data' : path)).sort(),
    )
    expect(execFileSync('tar', ['-tzf', '-'], { input: archive }).toString()).not.toMatch(/pem|env|sqlite|\.key/i)
  })

  test('leave out what .latchkeyignore names', async () => {
    const folder = await bundleProject({
      ...application,
      'public/a.psd': '',
      'deep/public/b.psd': '',
      'coverage/x': '',
      'docs/coverage/x': '',
      'docs/internal/x': '',
      'internal/x': '',
      '.latchkeyignore': '# not needed\n*.psd\ncoverage\n\ndocs/internal/\n/greeting.txt\n',
    })
    expect(await assetsOf(folder)).toEqual(['assets/index.js', 'assets/internal/x'])
    await writeFile(join(folder, '.latchkeyignore'), '!public')
    await expect(makeRelease({ homeFolder, folder })).rejects.toMatchObject({ exitCode: 2 })
  })

  test('are refused when .latchkeyignore cannot be read, so that no ignored file is published', async () => {
    const folder = await bundleProject({ ...application, '.latchkeyignore/x': '' })
    await expect(makeRelease({ homeFolder, folder })).rejects.toMatchObject({
      exitCode: 2,
      message: '.latchkeyignore cannot be read (EISDIR). Make it a readable file, or remove it.',
    })
  })

  test('are there although git ignores them, because pages need what a build makes', async () => {
    const folder = await bundleProject({ ...application, 'dist/app.js': '', '.gitignore': 'dist' })
    expect(await assetsOf(folder)).toContain('assets/dist/app.js')
  })

  test.each([
    ['/etc/passwd', 'public/passwd'],
    ['../../outside', 'public/outside'],
    ['.env', 'settings.txt'],
    ['/etc', 'etc'],
  ])('ATK-144 with a link to %s are refused', async (target, path) => {
    const folder = await bundleProject({ ...application, '.env': 'hunter2' })
    await mkdir(join(folder, 'public'))
    await symlink(target, join(folder, path))
    await expect(makeRelease({ homeFolder, folder })).rejects.toMatchObject({
      exitCode: 1,
      message: `${path} is a link. Replace it by the file, or name it in .latchkeyignore.`,
    })
    await writeFile(join(folder, '.latchkeyignore'), path)
    expect(await assetsOf(folder)).toEqual(['assets/greeting.txt', 'assets/index.js'])
  })

  test('with paths that a release may not have are refused', async () => {
    for (const [path, why] of [
      ['a\\b', 'holds a backslash'],
      ['a\nb', 'holds a control character'],
      [`${'a'.repeat(200)}/${'b'.repeat(200)}`, 'is longer than 255 bytes'],
    ] as const) {
      const folder = await bundleProject({ ...application, [path]: '' })
      await expect(makeRelease({ homeFolder, folder })).rejects.toThrow(why)
    }
    const folder = await bundleProject({ ...application, 'Public/a': '', 'public/b': '' })
    await expect(makeRelease({ homeFolder, folder })).rejects.toThrow('is the same path as')
  })

  test.each([
    ['gpj.\u202Eexe', 'turns the direction of writing'],
    ['page.html.', 'ends in a dot or a blank'],
    ['public /x', 'ends in a dot or a blank'],
  ])('ATK-244 with the path %j are refused', async (path, why) => {
    const folder = await bundleProject({ ...application, [path]: '' })
    await expect(makeRelease({ homeFolder, folder })).rejects.toThrow(why)
    await writeFile(join(folder, '.latchkeyignore'), `${path.slice(0, 3)}*`)
    expect(await assetsOf(folder)).toEqual(['assets/greeting.txt', 'assets/index.js'])
  })

  test.each([
    ['\u00e9', 'e\u0301'],
    ['a.txt', 'a\u200b.txt'],
  ])('ATK-244 with the twins %j and %j are refused', async (one, other) => {
    const folder = await bundleProject({ ...application, [one]: '1', [other]: '2' })
    await expect(makeRelease({ homeFolder, folder })).rejects.toThrow('is the same path as')
  })

  test('ATK-244 in 2,500 folders, one in another, longer than a path may be, are refused by the first that is too deep', async () => {
    const folder = await bundleProject(application)
    const make = "for (let n = 0; n < 2500; n += 1) { fs.mkdirSync('d'); process.chdir('d') } fs.writeFileSync('x', '')"
    execFileSync(process.execPath, ['-e', make], { cwd: folder })
    onTestFinished(() => void execFileSync('rm', ['-rf', join(folder, 'd')]))
    await expect(makeRelease({ homeFolder, folder })).rejects.toMatchObject({
      exitCode: 1,
      message: `${Array(32).fill('d').join('/')} has more than 32 folders. Rename it, or name it in .latchkeyignore.`,
    })
    await writeFile(join(folder, '.latchkeyignore'), 'd')
    expect(await assetsOf(folder)).toEqual(['assets/greeting.txt', 'assets/index.js'])
  })

  test('above a limit are refused, with the largest files', async () => {
    const folder = await bundleProject({ ...application, 'big.bin': 'x'.repeat(5000) })
    const limits = (more: object) => makeRelease({ homeFolder, folder, limits: { ...defaultReleaseLimits, ...more } })
    await expect(limits({ assets: 5000 })).rejects.toMatchObject({
      details: { lines: [expect.stringContaining('The largest are big.bin')] },
    })
    await expect(limits({ files: 4 })).rejects.toThrow('3 files of')
    await expect(limits({ code: 10 })).rejects.toThrow('The bundle and its map have')
  })
})

test('missing packages are an error of exit code 2 that names the command', async () => {
  const missing = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' }))
  await expect(loadBundlePackages({ esbuild: missing, tar: missing })).rejects.toMatchObject({
    exitCode: 2,
    message: 'This command needs more packages. Run: npm install esbuild@0.28.2 tar-stream@3',
  })
  const tar = () => import('tar-stream')
  await expect(loadBundlePackages({ esbuild: missing, tar })).rejects.toThrow(/npm install esbuild@0\.28\.2$/)
  const broken = () => Promise.reject(new Error('broken'))
  await expect(loadBundlePackages({ esbuild: broken, tar })).rejects.toThrow('broken')
})
