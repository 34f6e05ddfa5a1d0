import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { unpackRelease } from '../../../src/host/releases/unpack.js'
import { defaultReleaseLimits, pathCollision, type ReleaseLimits } from '../../../src/model/release.js'
import {
  type ArchiveEntry,
  archiveOf,
  entriesOf,
  manifestOf,
  releaseContents,
  tarOf,
} from '../../support/release-archive.js'

async function releasesFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-releases-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'releases'))
  return join(folder, 'releases')
}

/** In pieces, as a network brings it. */
async function* inPieces(archive: Uint8Array, size = 700): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size)
}

function unpack(folder: string, archive: Uint8Array, limits: Partial<ReleaseLimits> = {}) {
  return unpackRelease(inPieces(archive), { folder, number: 7 }, { ...defaultReleaseLimits, ...limits })
}

async function refusal(archive: Uint8Array, limits: Partial<ReleaseLimits> = {}): Promise<string> {
  const folder = await releasesFolder()
  const error = await unpack(folder, archive, limits).then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'AuthError', code: 'bundle_invalid', status: 422 })
  expect(await readdir(folder)).toEqual([])
  expect(await readdir(join(folder, '..'))).toEqual(['releases'])
  return error instanceof Error ? error.message : ''
}

const manifest = manifestOf(releaseContents)
const files = entriesOf(releaseContents)
const archiveWith = async (...entries: readonly ArchiveEntry[]) => gzipSync(await tarOf(entries))
/** A release with one more file. */
const withFile = (path: string, content: string | Uint8Array = 'x') =>
  archiveOf({ ...releaseContents, [path]: content })

describe('a release', () => {
  test('is unpacked into its folder, every file as it was', async () => {
    const folder = await releasesFolder()
    const { tool, git, files: listed } = await unpack(folder, await archiveOf(releaseContents))
    expect([tool, git, listed.length]).toEqual(['1.0.0', null, 4])
    expect(await readdir(folder)).toEqual(['7'])
    for (const [path, content] of Object.entries(releaseContents)) {
      expect(await readFile(join(folder, '7', path), 'utf8')).toBe(content)
    }
    expect(JSON.parse(await readFile(join(folder, '7/release.json'), 'utf8'))).toMatchObject({ format: 1 })
  })

  test('is readable by its owner only', async () => {
    const folder = await releasesFolder()
    await unpack(folder, await archiveOf(releaseContents))
    const modes = ['7', '7/assets/public', '7/bundle.mjs', '7/release.json'].map(async (path) => {
      return ((await stat(join(folder, path))).mode & 0o777).toString(8)
    })
    expect(await Promise.all(modes)).toEqual(['700', '700', '600', '600'])
  })

  test('is readable by a group that is given, and nothing of it writable', async () => {
    const folder = await releasesFolder()
    const place = { folder, number: 7, group: process.getgid?.() ?? 0 }
    await unpackRelease(inPieces(await archiveOf(releaseContents)), place, defaultReleaseLimits)
    const modes = ['7', '7/assets', '7/assets/public', '7/bundle.mjs'].map(async (path) => {
      return ((await stat(join(folder, path))).mode & 0o777).toString(8)
    })
    expect(await Promise.all(modes)).toEqual(['750', '750', '750', '640'])
  })

  test('may have long and foreign paths, which tar writes in extended headers', async () => {
    const path = `assets/${'grüße/'.repeat(12)}${'a'.repeat(100)}.txt`
    const folder = await releasesFolder()
    await unpack(folder, await withFile(path, 'deep'))
    expect(await readFile(join(folder, '7', path), 'utf8')).toBe('deep')
  })

  test('replaces what an earlier try has left, and never a release', async () => {
    const folder = await releasesFolder()
    await mkdir(join(folder, '7.part'))
    await writeFile(join(folder, '7.part/old'), '')
    await unpack(folder, await archiveOf(releaseContents))
    expect(await readdir(folder)).toEqual(['7'])
    expect(await readdir(join(folder, '7'))).not.toContain('old')
    await expect(unpack(folder, await withFile('assets/new'))).rejects.toThrow('is there already')
    expect(await readdir(join(folder, '7/assets'))).toEqual(['public'])
  })
})

describe('an upload', () => {
  test('ATK-192 that breaks off at any point changes nothing, and its own error comes out', async () => {
    const archive = await archiveOf({ ...releaseContents, 'assets/noise': Buffer.alloc(900, 'abcdefg') })
    const folder = await releasesFolder()
    for (let sent = 0; sent < archive.length; sent += 53) {
      async function* broken() {
        yield archive.subarray(0, sent)
        throw new Error('the client has left')
      }
      const unpacked = unpackRelease(broken(), { folder, number: 7 }, defaultReleaseLimits)
      await expect(unpacked).rejects.toThrow('the client has left')
      expect(await readdir(folder)).toEqual([])
    }
  })

  test('that ends too early without an error is refused', async () => {
    const archive = await archiveOf(releaseContents)
    for (const sent of [0, 1, 10, 100, archive.length >> 1, archive.length - 9, archive.length - 1]) {
      expect(await refusal(archive.subarray(0, sent))).toMatch(/cut off or damaged|is empty/)
    }
  })

  test('whose files cannot be written keeps the error of the file system', async () => {
    const folder = join(await releasesFolder(), 'missing')
    await expect(unpack(folder, await archiveOf(releaseContents))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('an archive is refused', () => {
  test.each([
    ['assets/../../outside', 'has a part of dots'],
    ['assets/./x', 'has a part of dots'],
    ['../outside', 'is neither the bundle nor an asset'],
    ['/etc/cron.d/x', 'is neither the bundle nor an asset'],
    ['other.mjs', 'is neither the bundle nor an asset'],
    ['assets', 'is neither the bundle nor an asset'],
    ['release.json', 'is neither the bundle nor an asset'],
    [`assets/${'a/'.repeat(32)}x`, 'has more than 32 folders'],
    ['assets//x', 'has an empty part'],
    ['assets/x/', 'has an empty part'],
    ['assets/a\\b', 'holds a backslash'],
    ['assets/a\u0000b', 'holds a control character'],
    ['assets/a\nb', 'holds a control character'],
    [`assets/${'a'.repeat(249)}`, 'is longer than 255 bytes'],
    [`assets/${'ä'.repeat(125)}`, 'is longer than 255 bytes'],
  ])('ATK-165 for the path %j', async (path, fault) => {
    expect(await refusal(await archiveWith(manifestOf({ ...releaseContents, [path]: 'x' }), ...files))).toContain(fault)
  })

  test.each([
    ['assets/gpj.\u202Eexe', 'turns the direction of writing'],
    ['assets/\u2067a\u2069/b', 'turns the direction of writing'],
    ['assets/a\u061Cb', 'turns the direction of writing'],
    ['assets/a\u2028b', 'holds a control character'],
    ['assets/index.html.', 'ends in a dot or a blank'],
    ['assets/index.html ', 'ends in a dot or a blank'],
    ['assets/public./x', 'ends in a dot or a blank'],
    ['assets/public\u00A0/x', 'ends in a dot or a blank'],
    ['assets/...', 'ends in a dot or a blank'],
    [`assets/${'d/'.repeat(10_000)}x`, 'is longer than 255 bytes'],
  ])('ATK-244 for the path %j', async (path, fault) => {
    const archive = await archiveWith(manifestOf({ ...releaseContents, [path]: 'x' }), ...files, {
      name: path,
      content: 'x',
    })
    expect(await refusal(archive)).toContain(fault)
  })

  test.each([
    ['\u00e9', 'e\u0301'],
    ['\u212b', '\u00e5'],
    ['a.txt', 'a\u200b.txt'],
    ['a.txt', '\ufeffa.txt'],
    ['\u2764.png', '\u2764\ufe0f.png'],
    ['a\u00ad/x', 'a/y'],
    ['\u0130', 'i\u0307'],
  ])('ATK-244 for %j beside %j, which look the same', async (one, other) => {
    const message = await refusal(
      await archiveOf({ ...releaseContents, [`assets/${one}`]: '1', [`assets/${other}`]: '2' }),
    )
    expect(message).toContain('are the same path')
  })

  test.each([
    ['assets/public', 'assets/public'],
    ['assets/Public/other.html', 'assets/public'],
    ['assets/public/INDEX.html', 'assets/public/index.html'],
    ['assets/public/index.html/x', 'assets/public/index.html'],
  ])('for the path %s, which collides', async (path, other) => {
    const message = await refusal(await withFile(path))
    expect(message).toContain('are the same path on some systems')
    expect(message).toContain(other)
  })

  test.each([
    [['assets/a/b/c', 'assets/A/b/d'], 'assets/a', 'assets/A/b/d'],
    [['assets/a/b', 'assets/a/b/c'], 'assets/a/b', 'assets/a/b/c'],
    [['assets/a/b/c', 'assets/a/b'], 'assets/a/b', 'assets/a/b'],
    [['assets/a', 'assets/a'], 'assets/a', 'assets/a'],
  ])('for the paths %j, by naming %s and %s', async (paths, first, second) => {
    expect(pathCollision(paths)).toEqual([first, second])
  })

  test.each([[['assets/a/b', 'assets/b', 'assets/ab', 'assets/a/a', 'assets/b.js', 'bundle.mjs']], [[]]])(
    'not for the paths %j',
    (paths) => {
      expect(pathCollision(paths)).toBeNull()
    },
  )

  test.each([
    [{ name: 'assets/public/index.html', type: 'symlink', linkname: '/etc/passwd' }],
    [{ name: 'assets/public/index.html', type: 'link', linkname: 'bundle.mjs' }],
    [{ name: 'assets/public/index.html', type: 'character-device', devmajor: 1, devminor: 5 }],
    [{ name: 'assets/public/index.html', type: 'block-device' }],
    [{ name: 'assets/public/index.html', type: 'fifo' }],
    [{ name: 'assets/public', type: 'directory' }],
  ] as const)('ATK-165 for a link, a device or a folder: %j', async (entry) => {
    expect(await refusal(await archiveWith(manifest, entry, ...files))).toContain('is no plain file')
  })

  test('for an entry that is not listed, is there twice, or is missing', async () => {
    const extra = { name: 'assets/extra', content: 'x' }
    expect(await refusal(await archiveWith(manifest, ...files, extra))).toContain('"assets/extra" is not listed')
    const outside = { name: '../../outside', content: 'x' }
    expect(await refusal(await archiveWith(manifest, outside, ...files))).toContain('"../../outside" is not listed')
    const [first = extra] = files
    expect(await refusal(await archiveWith(manifest, ...files, first))).toContain('is there twice')
    expect(await refusal(await archiveWith(manifest, ...files.slice(1)))).toContain('has no "bundle.mjs"')
  })

  test('for an extended header that names another path or size than the list', async () => {
    const moved = { name: 'assets/public/index.html', pax: { path: '../../outside' }, content: 'x' }
    expect(await refusal(await archiveWith(manifest, moved, ...files))).toContain('is not listed')
    const resized = { name: 'assets/public/index.html', pax: { size: '4000000000' }, content: '<h1>Hello</h1>' }
    expect(await refusal(await archiveWith(manifest, resized, ...files))).toContain('differs from its digest')
    for (const size of ['NaN', '-1', '1e99']) {
      const odd = { name: 'assets/public/index.html', pax: { size }, content: '<h1>Hello</h1>' }
      expect(await refusal(await archiveWith(manifest, odd, ...files))).toMatch(/damaged|differs/)
    }
  })

  test('for a changed file of the same size', async () => {
    const changed = {
      name: 'bundle.mjs',
      content: releaseContents['bundle.mjs']?.replace('routehooks', 'otherhooks') ?? '',
    }
    expect(await refusal(await archiveWith(manifest, changed, ...files.slice(1)))).toContain(
      '"bundle.mjs" differs from its digest',
    )
  })

  test.each([
    ['no manifest first', [...files, manifest], 'begins with "bundle.mjs"'],
    ['no entry', [], 'is empty'],
    ['no code', [manifestOf({ 'bundle.mjs.map': '' })], 'has no bundle.mjs'],
    ['no map', [manifestOf({ 'bundle.mjs': '' })], 'has no bundle.mjs.map'],
    ['no JSON', [{ name: 'release.json', content: '{' }], 'is damaged, or of another version'],
    ['another format', [manifestOf(releaseContents, { format: 2 })], 'is damaged, or of another version'],
    ['files that are not a list', [manifestOf(releaseContents, { files: {} })], 'is damaged'],
    [
      'a negative size',
      [manifestOf({}, { files: [{ path: 'bundle.mjs', bytes: -1, sha256: 'a'.repeat(64) }] })],
      'has no size or digest',
    ],
    [
      'a malformed digest',
      [manifestOf({}, { files: [{ path: 'bundle.mjs', bytes: 1, sha256: 'z' }] })],
      'has no size or digest',
    ],
    ['a malformed commit', [manifestOf(releaseContents, { git: { hash: '$(id)', branch: null } })], 'names no commit'],
    [
      'a branch with an escape sequence',
      [manifestOf(releaseContents, { git: { hash: 'a'.repeat(40), branch: '\u001b[2J' } })],
      'names no commit',
    ],
  ])('for %s', async (_name, entries, fault) => {
    expect(await refusal(await archiveWith(...entries))).toContain(fault)
  })

  test('above the limits, with the sizes and the remedy, before anything is written', async () => {
    const archive = await archiveOf({ ...releaseContents, 'assets/big.bin': Buffer.alloc(5000) })
    expect(await refusal(archive, { code: 80 })).toMatch(/The bundle and its map have \d+ bytes, at most 80/)
    expect(await refusal(archive, { assets: 5000 })).toContain('the largest is "assets/big.bin". Keep files')
    expect(await refusal(archive, { files: 4 })).toContain('has 5 files, at most 4')
  })

  test('when it is no archive at all', async () => {
    expect(await refusal(Buffer.from('PK\u0003\u0004 not a tar file'))).toContain('cut off or damaged')
    expect(await refusal(gzipSync(Buffer.alloc(4096, 'x')))).toContain('cut off or damaged')
    expect(await refusal(await tarOf([manifest, ...files]))).toContain('cut off or damaged')
  })

  test('ATK-165 when it unpacks to more than a release may hold, however small it is', async () => {
    const limits = { code: 1000, assets: 1000, files: 10 }
    const bomb = gzipSync(Buffer.concat([await tarOf([manifest, ...files]), Buffer.alloc(64 * 1024 * 1024)]))
    expect(bomb.length).toBeLessThan(100_000)
    expect(await refusal(bomb, limits)).toContain('larger than a release may be')
  })

  test('ATK-165 when its compressed bytes never end, although they unpack to nothing', async () => {
    const nothing = gzipSync(Buffer.alloc(0))
    let sent = 0
    async function* endless() {
      for (;;) {
        sent += 1000 * nothing.length
        yield Buffer.concat(Array.from({ length: 1000 }, () => nothing))
      }
    }
    const folder = await releasesFolder()
    const limits = { code: 1000, assets: 1000, files: 1 }
    const unpacked = unpackRelease(endless(), { folder, number: 7 }, limits)
    await expect(unpacked).rejects.toMatchObject({ code: 'bundle_invalid' })
    expect(sent).toBeLessThan(8 * 1024 * 1024)
  })

  test('when a header asks for more memory than a manifest has', async () => {
    const header = await tarOf([{ name: 'x', pax: { comment: 'c'.repeat(5_000_000) }, content: 'x' }])
    expect(await refusal(gzipSync(header))).toContain('cut off or damaged')
  })

  test('with a path that is shown on one line and cut', async () => {
    const message = await refusal(await archiveWith(manifestOf({ [`\u001b[2J\r\n${'x'.repeat(500)}`]: '' })))
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message.length).toBeLessThan(300)
  })
})
