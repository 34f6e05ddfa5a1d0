import { expect, test } from 'vitest'
import { createSharedClock } from '../../src/lib/shared-clock.js'

const world = (nowMs: number) => ({ nowMs, testing: false, now: () => nowMs, monotonic: () => 0 })

test.each([
  ['as it is before the store was heard', 1_000_000, null, 1_000],
  ['as it is where it is near that of the store', 1_000_000, 971_000, 1_000],
  ['that of the store where it is far ahead', 1_000_000, 400_000, 400],
  ['that of the store where it is far behind', 1_000_000, 1_600_000, 1_600],
])('the time is %s', (_title, nowMs, storeNowMs, seconds) => {
  const clock = createSharedClock(world(nowMs))
  if (storeNowMs !== null) clock.learn(storeNowMs)
  expect([clock.now(), clock.nowMs(), clock.wallMs()]).toEqual([seconds, seconds * 1_000, nowMs])
})

test('a clock that was set right again counts again', () => {
  const clock = createSharedClock(world(1_000_000))
  clock.learn(400_000)
  clock.learn(1_000_000)
  expect(clock.now()).toBe(1_000)
})

test('a test clock has nothing to do with the store', () => {
  const clock = createSharedClock({ ...world(1_000_000), testing: true })
  clock.learn(400_000)
  expect(clock.now()).toBe(1_000)
})

test('a store without a clock of its own corrects nobody', () => {
  const clock = createSharedClock(world(1_000_000), false)
  clock.learn(400_000)
  expect(clock.now()).toBe(1_000)
})
