import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { releasesToRemove, sweepReleases } from '../../../src/host/releases/kept.js'

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at)

test('the newest ten releases are kept', () => {
  expect(releasesToRemove(numbers(1, 10), [10])).toEqual([])
  expect(releasesToRemove(numbers(1, 13), [13])).toEqual([1, 2, 3])
  expect(releasesToRemove([13, 2, 9, 11, 12], [13], 3)).toEqual([2, 9])
})

test('a release that serves after a rollback is kept, however old', () => {
  expect(releasesToRemove(numbers(1, 13), [1, 13])).toEqual([2, 3])
})

test('what a killed deploy has left goes, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-kept-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['1', '2', '3', '4.part', '5.part', 'notes', 'x.part']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'file'), '')
  }
  await sweepReleases(folder, [1, 2])
  expect(await readdir(folder)).toEqual(['1', '2', 'notes', 'x.part'])
})
