import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { receiveSpool } from '../../../src/host/folder/spool.js'

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-spool-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function whole(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

test('an upload is read as it was sent, and has no name in its folder', async () => {
  const folder = await newFolder()
  const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => at % 251))
  async function* upload() {
    yield bytes.subarray(0, 1)
    expect(await readdir(folder)).toEqual([])
    yield bytes.subarray(1, 150_000)
    yield bytes.subarray(150_000)
  }
  const spool = await receiveSpool(folder, 'one', upload())
  expect((await whole(spool.pieces())).equals(bytes)).toBe(true)
  expect((await whole(spool.pieces())).equals(bytes)).toBe(true)
  await spool.remove()
  await expect(whole(spool.pieces())).rejects.toMatchObject({ code: 'EBADF' })
})

test('an upload without a byte has no pieces, and one that breaks off rejects as it does', async () => {
  const folder = await newFolder()
  async function* nothing() {}
  const spool = await receiveSpool(folder, 'empty', nothing())
  expect(await whole(spool.pieces())).toHaveLength(0)
  await spool.remove()
  async function* broken() {
    yield Buffer.alloc(10)
    throw new RangeError('gone')
  }
  await expect(receiveSpool(folder, 'broken', broken())).rejects.toThrow(RangeError)
  expect(await readdir(folder)).toEqual([])
})
