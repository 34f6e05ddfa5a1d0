import { expect, test } from 'vitest'
import { AuthError } from '../../../src/errors.js'
import { tryLater } from '../../../src/host/flows/spaces/settle.js'
import { createTestClock } from '../../../src/testing.js'

test('a step is tried again through an outage of an hour, and no more once it succeeds', async () => {
  const clock = createTestClock()
  let isDown = true
  const runs: number[] = []
  tryLater(clock, async () => {
    runs.push(clock.monotonic())
    if (isDown) throw new AuthError('store_unavailable')
  })
  const began = clock.monotonic()
  await clock.advance('1h')
  const seconds = runs.map((at) => (at - began) / 1_000)
  expect(seconds.slice(0, 7)).toEqual([1, 3, 7, 15, 31, 61, 91])
  expect(seconds.at(-1)).toBeGreaterThan(3_570)

  isDown = false
  await clock.advance('30s')
  const tries = runs.length
  await clock.advance('1h')
  expect(runs).toHaveLength(tries)
  expect(tries).toBe(seconds.length + 1)
})
