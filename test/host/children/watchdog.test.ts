import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isFolderLarger, openProcessFacts } from '../../../src/host/children/process-facts.js'
import { startWatchdog } from '../../../src/host/children/watchdog.js'
import { createTestClock } from '../../../src/testing/clock.js'

const mebibyte = 1024 * 1024

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-watchdog-'))
})
afterAll(() => rm(folder, { recursive: true }))

function watch(memory: () => number | null = () => mebibyte) {
  const clock = createTestClock()
  const breaches: string[] = []
  const watchdog = startWatchdog({
    pid: 1,
    memoryBytes: 100 * mebibyte,
    temporaryBytes: mebibyte,
    areFilesOver: () => isFolderLarger(folder, mebibyte),
    facts: { memoryOf: async () => memory(), startOf: async () => '1' },
    world: clock,
    onBreach: (reason) => breaches.push(reason),
  })
  return { clock, breaches, watchdog }
}

describe('the watchdog', () => {
  test('ATK-161 ends a child that sent no heartbeat for more than 10 s, once', async () => {
    const { clock, breaches, watchdog } = watch()
    await clock.advance('60s')
    watchdog.heartbeat()
    await clock.advance('10s')
    watchdog.heartbeat()
    await clock.advance('10s')
    expect(breaches).toEqual([])
    await clock.advance('1m')
    expect(breaches).toEqual(['It sent no heartbeat for 10 s: an endless loop.'])
  })

  test('does not take a sleep of the host for silence of the child', async () => {
    const { clock, breaches, watchdog } = watch()
    watchdog.heartbeat()
    await clock.set(clock.now() + 3_600_000)
    await clock.advance('5s')
    expect(breaches).toEqual([])
    await clock.advance('10s')
    expect(breaches).toHaveLength(1)
  })

  test('ATK-161 ends a child with more than 1.5 times its memory', async () => {
    let memory = 150 * mebibyte
    const { clock, breaches, watchdog } = watch(() => memory)
    await clock.advance('5s')
    expect(breaches).toEqual([])
    expect(watchdog.memoryBytes()).toBe(memory)
    memory += 1
    await clock.advance('1s')
    expect(breaches).toEqual([expect.stringContaining('It used 150 MiB of memory. The limit is 100 MiB')])
  })

  test('a process whose memory cannot be read is left alone, and nothing happens after stop', async () => {
    const { clock, breaches, watchdog } = watch(() => null)
    watchdog.heartbeat()
    await clock.advance('5s')
    watchdog.stop()
    await clock.advance('1h')
    expect(breaches).toEqual([])
  })

  test('ATK-161 ends a child whose temporary files are too large', async () => {
    const { clock, breaches } = watch()
    await clock.advance('10s')
    expect(breaches).toEqual([])
    await writeFile(join(folder, 'large'), Buffer.alloc(2 * mebibyte, 'x'))
    await vi.waitFor(async () => {
      await clock.advance('10s')
      expect(breaches).toEqual(['Its temporary files have more than 1 MiB.'])
    })
  })
})

test('ATK-161 a folder is as large as its files and entries, in all folders below, and links count for nothing else', async () => {
  const place = join(folder, 'sizes')
  await mkdir(join(place, 'a/b'), { recursive: true })
  await symlink('/usr', join(place, 'usr'))
  expect(await isFolderLarger(place, 12 * 1024)).toBe(false)
  for (let file = 0; file < 10; file += 1) await writeFile(join(place, 'a/b', String(file)), '')
  expect(await isFolderLarger(place, 52 * 1024)).toBe(false)
  expect(await isFolderLarger(place, 51 * 1024)).toBe(true)
  await writeFile(join(place, 'a/b/0'), Buffer.alloc(100_000, 'x'))
  expect(await isFolderLarger(place, 52 * 1024 + 100_000 - 4_096)).toBe(true)
  expect(await isFolderLarger(join(place, 'absent'), 0)).toBe(false)
})

test('the kernel says when a process began and what memory it has, and nothing of one that is gone', async () => {
  const facts = await openProcessFacts()
  expect(await facts.startOf(process.pid)).toBe(await facts.startOf(process.pid))
  expect(await facts.startOf(process.pid)).not.toBe(await facts.startOf(process.ppid))
  expect(await facts.memoryOf(process.pid)).toBeGreaterThan(10 * mebibyte)
  expect([await facts.startOf(4_194_304), await facts.memoryOf(4_194_304)]).toEqual([null, null])
})
