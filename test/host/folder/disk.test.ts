import { expect, test } from 'vitest'
import { type DiskSpace, isLow, watchDisk } from '../../../src/host/folder/disk.js'
import { hostFolder } from '../../support/host-folder.js'

const gibibyte = 1024 ** 3
const logger = { warn: () => {}, error: () => {} }

test('less than 1 GiB or 5 % is low', () => {
  expect(isLow({ free: gibibyte - 1, total: 10 * gibibyte })).toBe(true)
  expect(isLow({ free: gibibyte, total: 10 * gibibyte })).toBe(false)
  expect(isLow({ free: 4 * gibibyte, total: 100 * gibibyte })).toBe(true)
  expect(isLow({ free: 5 * gibibyte, total: 100 * gibibyte })).toBe(false)
})

test('ATK-201 a disk that fills is noticed at the next check, and one that cannot be read counts as full', async () => {
  const timers: (() => void)[] = []
  const lines: unknown[] = []
  let space: DiskSpace | null = { free: 50 * gibibyte, total: 100 * gibibyte }
  const write = (fields: unknown) => void lines.push(fields)
  const disk = await watchDisk({
    path: '/',
    timer: (_, callback) => {
      timers.push(callback)
      return () => {}
    },
    logger: { warn: write, error: write },
    read: async () => {
      if (space === null) throw new Error('no disk')
      return space
    },
  })
  const nextCheck = async () => {
    timers.pop()?.()
    await new Promise(setImmediate)
  }

  expect(disk.mayWrite()).toBe(true)
  space = { free: 1, total: 100 * gibibyte }
  await nextCheck()
  expect(disk.mayWrite()).toBe(false)
  space = null
  await nextCheck()
  expect(disk.mayWrite()).toBe(false)
  space = { free: 50 * gibibyte, total: 100 * gibibyte }
  await nextCheck()
  expect(disk.mayWrite()).toBe(true)
  expect(lines).toMatchObject([{ state: 'low', freeBytes: 1 }, { state: 'unknown' }, { state: 'enough' }])
  disk.close()
})

test('a real disk can be read', async () => {
  const { path } = await hostFolder()
  const disk = await watchDisk({ path, timer: () => () => {}, logger })
  expect(disk.mayWrite()).toBeTypeOf('boolean')
  disk.close()
})
