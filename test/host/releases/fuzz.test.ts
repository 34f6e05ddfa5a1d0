import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unpackRelease } from '../../../src/host/releases/unpack.js'
import { entriesOf, manifestOf, releaseContents, tarOf } from '../../support/release-archive.js'

const limits = { code: 10_000, assets: 10_000, files: 20 }
let root: string
let tar: Buffer

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'latchkey-fuzz-'))
  await mkdir(join(root, 'space/releases'), { recursive: true })
  const long = `assets/${'long/'.repeat(22)}name`
  const contents = { ...releaseContents, [long]: 'behind an extended header', 'assets/öl': 'too' }
  tar = await tarOf([manifestOf(contents), ...entriesOf(contents)])
})

afterAll(() => rm(root, { recursive: true, force: true }))

/** Unpacks, and checks that the release is there whole or not at all, and nothing else anywhere. */
async function judge(archive: Uint8Array): Promise<void> {
  const folder = join(root, 'space/releases')
  const outcome = await unpackRelease(pieces(archive), { folder, number: 1 }, limits).then(
    () => 'unpacked',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  )
  expect([outcome, await readdir(folder)]).toEqual(
    outcome === 'unpacked' ? ['unpacked', ['1']] : ['bundle_invalid', []],
  )
  if (outcome === 'unpacked') {
    for (const [path, content] of Object.entries(releaseContents)) {
      expect(await readFile(join(folder, '1', path), 'utf8')).toBe(content)
    }
    await rm(join(folder, '1'), { recursive: true })
  }
  expect([await readdir(root), await readdir(join(root, 'space'))]).toEqual([['space'], ['releases']])
}

async function* pieces(archive: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < archive.length; at += 1000) yield archive.subarray(at, at + 1000)
}

/** A right checksum, so that the changed header is read on. */
function withChecksum(block: Buffer): void {
  block.fill(' ', 148, 156)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
}

const byte = fc.integer({ min: 0, max: 255 })
const place = fc.nat()

test('ATK-165 an archive with any bytes of its tar changed is unpacked right or refused', async () => {
  const changes = fc.array(fc.tuple(place, byte), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(changes, async (changed) => {
      const bytes = Buffer.from(tar)
      for (const [at, value] of changed) bytes[at % bytes.length] = value
      await judge(gzipSync(bytes))
    }),
    { numRuns: 100 },
  )
})

test('ATK-165 an archive with headers changed under a right checksum is unpacked right or refused', async () => {
  // Name, size, type and the prefix of the name.
  const offset = fc.oneof(
    fc.integer({ min: 0, max: 99 }),
    fc.integer({ min: 124, max: 135 }),
    fc.constant(156),
    fc.integer({ min: 345, max: 400 }),
  )
  const value = fc.oneof(byte, fc.constantFrom(...Buffer.from('./\\\x017255xLKgV'), 0x80, 0xff))
  const changes = fc.array(fc.tuple(place, offset, value), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, async (changed) => {
      const bytes = Buffer.from(tar)
      for (const [at, within, to] of changed) {
        const start = (at % (bytes.length / 512)) * 512
        const block = bytes.subarray(start, start + 512)
        block[within] = to
        withChecksum(block)
      }
      await judge(gzipSync(bytes))
    }),
    // A size that begins with 0x81 is no number.
    { numRuns: 150, examples: [[[[0, 124, 129]]]] },
  )
})

test('an archive with blocks removed, doubled or swapped is unpacked right or refused', async () => {
  const changes = fc.array(fc.tuple(fc.constantFrom('remove', 'double', 'swap'), place, place), {
    minLength: 1,
    maxLength: 3,
  })
  await fc.assert(
    fc.asyncProperty(changes, async (changed) => {
      const blocks = Array.from({ length: tar.length / 512 }, (_, at) => tar.subarray(at * 512, (at + 1) * 512))
      for (const [change, one, other] of changed) {
        const [first, second] = [one % blocks.length, other % blocks.length]
        const block = blocks[first] ?? Buffer.alloc(512)
        if (change === 'remove') blocks.splice(first, 1)
        if (change === 'double') blocks.splice(second, 0, block)
        if (change === 'swap') [blocks[first], blocks[second]] = [blocks[second] ?? block, block]
      }
      await judge(gzipSync(Buffer.concat(blocks)))
    }),
    { numRuns: 100 },
  )
})

test('ATK-165 a gzip stream with changed bytes, or any other bytes, are refused or unpacked right', async () => {
  const changes = fc.array(fc.tuple(place, byte), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(changes, async (changed) => {
      const bytes = gzipSync(tar)
      for (const [at, value] of changed) bytes[at % bytes.length] = value
      await judge(bytes)
    }),
    { numRuns: 60 },
  )
  await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), judge), { numRuns: 25 })
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), (bytes) => judge(gzipSync(bytes))),
    { numRuns: 25 },
  )
})
