import { expect, test } from 'vitest'
import { type Gathering, gathered } from '../../src/lib/gather.js'

/** Words, gathered by their first letter; what ran is kept. */
function steered(overrides: Partial<Gathering<string, string>> = {}) {
  const runs: string[][] = []
  const ask = gathered<string, string>({
    group: (word) => word.charAt(0),
    key: (word) => word,
    async run(words) {
      runs.push([...words])
      return words.map((word) => word.toUpperCase())
    },
    divides: () => false,
    most: 100,
    ...overrides,
  })
  return { ask, runs }
}

test('calls of one turn are one run, and each gets its own answer', async () => {
  const { ask, runs } = steered()
  expect(await Promise.all(['ant', 'ape', 'asp'].map(ask))).toEqual(['ANT', 'APE', 'ASP'])
  expect(runs).toEqual([['ant', 'ape', 'asp']])
})

test('also those that come while promises of the same turn settle', async () => {
  const { ask, runs } = steered()
  const later = Promise.resolve().then(() => ask('ape'))
  expect(await Promise.all([ask('ant'), later])).toEqual(['ANT', 'APE'])
  expect(runs).toEqual([['ant', 'ape']])
})

test('the next turn is a run of its own, also while the first goes on', async () => {
  const ends: (() => void)[] = []
  const { ask, runs } = steered({
    run(words) {
      runs.push([...words])
      return new Promise((resolve) => ends.push(() => resolve([...words])))
    },
  })
  const first = ask('ant')
  await new Promise((resolve) => setImmediate(resolve))
  const second = ask('ape')
  await new Promise((resolve) => setImmediate(resolve))
  expect(runs).toEqual([['ant'], ['ape']])
  for (const end of ends) end()
  expect(await Promise.all([first, second])).toEqual(['ant', 'ape'])
})

test('neither groups nor two items of one key share a run', async () => {
  const { ask, runs } = steered()
  await Promise.all(['ant', 'bee', 'ant', 'ape', 'ant', 'bee'].map(ask))
  expect(runs).toEqual([['ant', 'ape'], ['ant'], ['ant'], ['bee'], ['bee']])
})

test('a run has so many items at most, and what is beyond is another one', async () => {
  const { ask, runs } = steered({ most: 2 })
  await Promise.all(['ant', 'ape', 'asp', 'ant', 'auk', 'ass', 'ant'].map(ask))
  expect(runs).toEqual([['ant', 'ape'], ['asp', 'ant'], ['auk', 'ass'], ['ant']])
})

test('a key that comes a hundred thousand times in one turn costs no search', async () => {
  const { ask, runs } = steered()
  const flood = Array.from({ length: 100_000 }, () => ask('ant'))
  expect(await Promise.all([ask('ape'), ...flood])).toHaveLength(100_001)
  expect(runs[0]).toEqual(['ant', 'ape'])
  expect(runs).toHaveLength(100_000)
})

test('a run that fails has failed for all of them, and for nobody else', async () => {
  const down = new Error('down')
  const { ask } = steered({
    run: async (words) => {
      if (words.includes('asp')) throw down
      return words
    },
  })
  const outcomes = await Promise.allSettled(['ant', 'asp', 'bee'].map(ask))
  expect(outcomes).toEqual([
    { status: 'rejected', reason: down },
    { status: 'rejected', reason: down },
    { status: 'fulfilled', value: 'bee' },
  ])
})

test('where a failure divides, each is tried alone, once', async () => {
  const runs: string[][] = []
  const { ask } = steered({
    run: async (words) => {
      runs.push([...words])
      if (words.includes('asp')) throw new Error('held')
      return words
    },
    divides: (error) => error instanceof Error && error.message === 'held',
  })
  const outcomes = await Promise.allSettled(['ant', 'asp', 'ape'].map(ask))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(runs).toEqual([['ant', 'asp', 'ape'], ['ant'], ['asp'], ['ape']])
})

test('a run that does not answer every item leaves nobody waiting', async () => {
  const { ask } = steered({ run: async (words) => words.slice(1) })
  const outcomes = await Promise.allSettled(['ant', 'ape'].map(ask))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
