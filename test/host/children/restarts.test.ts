import { expect, test } from 'vitest'
import { createRestarts } from '../../../src/host/children/restarts.js'
import { createStartQueue } from '../../../src/host/children/start-queue.js'
import { createTestClock } from '../../../src/testing/clock.js'

test('the wait after a crash doubles from 0.1 s, and the tenth crash in 10 minutes is the last', () => {
  const restarts = createRestarts(createTestClock())
  const waits = Array.from({ length: 10 }, () => restarts.afterCrash(0))
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, null])
})

test('the wait is 30 s at most, and 0.1 s again after a life of 60 s', async () => {
  const clock = createTestClock()
  const restarts = createRestarts(clock)
  for (let fault = 0; fault < 9; fault += 1) restarts.afterFault()
  expect(restarts.afterFault()).toBe(30_000)
  expect(restarts.afterCrash(59_999)).toBe(30_000)
  expect(restarts.afterCrash(60_000)).toBe(100)
})

test('crashes of more than 10 minutes ago and faults of the host do not count, and a deploy forgets all', async () => {
  const clock = createTestClock()
  const restarts = createRestarts(clock)
  for (let crash = 0; crash < 9; crash += 1) restarts.afterCrash(0)
  for (let fault = 0; fault < 20; fault += 1) restarts.afterFault()
  await clock.advance('10m')
  expect(restarts.afterCrash(0)).toBe(30_000)
  for (let crash = 0; crash < 8; crash += 1) restarts.afterCrash(0)
  restarts.reset()
  expect(restarts.afterCrash(0)).toBe(100)
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
