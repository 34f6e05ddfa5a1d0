import { expect, test } from 'vitest'
import { createRestarts } from '../../../src/host/children/restarts.js'
import { createStartQueue } from '../../../src/host/children/supervisor.js'
import { createTestClock } from '../../../src/testing/clock.js'

const minute = 60_000

test('the wait after a crash doubles from 0.1 s, and from the tenth in 10 minutes on from 30 s to 5 minutes', () => {
  const restarts = createRestarts(createTestClock())
  const waits = Array.from({ length: 15 }, () => restarts.afterCrash(0))
  expect(waits.map(({ waitMs }) => waitMs)).toEqual([
    ...[100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600],
    ...[30_000, minute, 2 * minute, 4 * minute, 5 * minute, 5 * minute],
  ])
  expect(waits.map(({ isCrashed }) => isCrashed)).toEqual([...Array(9).fill(false), ...Array(6).fill(true)])
  expect(waits.map(({ isFirst }) => isFirst)).toEqual([...Array(9).fill(false), true, ...Array(5).fill(false)])
})

test('the wait is 30 s at most, and 0.1 s again after a life of 60 s', () => {
  const restarts = createRestarts(createTestClock())
  for (let fault = 0; fault < 9; fault += 1) restarts.afterFault()
  expect(restarts.afterFault()).toBe(30_000)
  expect(restarts.afterCrash(59_999).waitMs).toBe(30_000)
  expect(restarts.afterCrash(60_000).waitMs).toBe(100)
})

test('crashes of more than 10 minutes ago and faults of the host do not count, and a deploy forgets all', async () => {
  const clock = createTestClock()
  const restarts = createRestarts(clock)
  for (let crash = 0; crash < 9; crash += 1) restarts.afterCrash(0)
  for (let fault = 0; fault < 20; fault += 1) restarts.afterFault()
  await clock.advance('10m')
  expect(restarts.afterCrash(0)).toEqual({ waitMs: 30_000, isCrashed: false, isFirst: false })
  for (let crash = 0; crash < 8; crash += 1) restarts.afterCrash(0)
  restarts.reset()
  expect(restarts.afterCrash(0).waitMs).toBe(100)
})

test('slow starts stay slow while crashes leave the 10 minutes, until it lives for 60 s', async () => {
  const clock = createTestClock()
  const restarts = createRestarts(clock)
  for (let crash = 0; crash < 12; crash += 1) restarts.afterCrash(0)
  await clock.advance('1h')
  expect(restarts.afterCrash(0)).toMatchObject({ isCrashed: true, isFirst: false })
  expect(restarts.afterCrash(60_000)).toEqual({ waitMs: 100, isCrashed: false, isFirst: false })
})

test('ATK-237 a request that takes the application down counts as no crash, however often it comes', () => {
  const restarts = createRestarts(createTestClock())
  const waits = Array.from({ length: 30 }, () => restarts.afterRequest(0))
  expect(Math.max(...waits)).toBe(30_000)
  expect(restarts.afterCrash(0)).toMatchObject({ isCrashed: false })
  expect(restarts.afterRequest(60_000)).toBe(100)
})

test('as many starts run at once as there is room for, and the preferred one is next', async () => {
  const queue = createStartQueue(2)
  const begun: string[] = []
  const end = new Map<string, () => void>()
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    queue.add(key, () => {
      begun.push(key)
      return new Promise((resolve) => end.set(key, resolve))
    })
  }
  expect(begun).toEqual(['a', 'b'])
  queue.prefer('d')
  queue.prefer('a')
  end.get('a')?.()
  await expect.poll(() => begun).toEqual(['a', 'b', 'd'])
  end.get('b')?.()
  await expect.poll(() => begun).toEqual(['a', 'b', 'd', 'c'])
  queue.clear()
  end.get('d')?.()
  end.get('c')?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(begun).toHaveLength(4)
})
