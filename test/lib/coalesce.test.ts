import { expect, test } from 'vitest'
import { coalesced } from '../../src/lib/coalesce.js'

/** Runs that end when the test says so. */
function steered(pause?: (next: () => void) => void) {
  const ends: ((error?: Error) => void)[] = []
  const call = coalesced(
    () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve(null)))),
    pause,
  )
  return { call, runs: () => ends.length, end: (error?: Error) => ends.at(-1)?.(error) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('any number of calls during a run are one run after it', async () => {
  const { call, runs, end } = steered()
  call()
  expect(runs()).toBe(1)
  for (let calls = 0; calls < 100; calls += 1) call()
  expect(runs()).toBe(1)
  end()
  await turn()
  expect(runs()).toBe(2)
  end()
  await turn()
  expect(runs()).toBe(2)
})

test('a call after a run begins another at once, also after one that failed', async () => {
  const { call, runs, end } = steered()
  call()
  end(new Error('down'))
  await turn()
  call()
  expect(runs()).toBe(2)
})

test('runs keep the distance that they are told', async () => {
  const pauses: (() => void)[] = []
  const { call, runs, end } = steered((next) => void pauses.push(next))
  call()
  end()
  await turn()
  call()
  call()
  expect([runs(), pauses.length]).toEqual([1, 1])
  pauses[0]?.()
  expect(runs()).toBe(2)
  end()
  await turn()
  pauses[1]?.()
  expect(runs()).toBe(2)
  call()
  expect(runs()).toBe(3)
})
