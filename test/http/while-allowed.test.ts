import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { whileAllowed } from '../../src/http/streams/while-allowed.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Items that a test hands over one by one. */
function handed() {
  const waiting: ((result: IteratorResult<string>) => void)[] = []
  const items: AsyncIterable<string> & { left: boolean } = {
    left: false,
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise((resolve) => void waiting.push(resolve)),
      async return() {
        items.left = true
        return { done: true, value: undefined }
      },
    }),
  }
  const give = (value: string) => waiting.shift()?.({ done: false, value })
  return { items, give, end: () => waiting.shift()?.({ done: true, value: undefined }) }
}

function judgeOf() {
  const judge = { asked: 0, refuses: false }
  return {
    judge,
    ask: async () => {
      judge.asked += 1
      if (judge.refuses) throw new Error('not any more')
    },
  }
}

test('items pass, and the judge is asked once a second and at the end', async () => {
  const { items, give, end } = handed()
  const { judge, ask } = judgeOf()
  const iterator = whileAllowed(items, ask)[Symbol.asyncIterator]()
  for (const value of ['a', 'b']) {
    const coming = iterator.next()
    give(value)
    expect(await coming).toEqual({ done: false, value })
  }
  expect(judge.asked).toBe(0)
  const late = iterator.next()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(judge.asked).toBe(3)
  give('c')
  expect(await late).toEqual({ done: false, value: 'c' })
  const last = iterator.next()
  end()
  expect(await last).toEqual({ done: true, value: undefined })
  expect(judge.asked).toBe(4)
  expect(vi.getTimerCount()).toBe(0)
})

test('a refusal ends them while no item comes, and lets their source go', async () => {
  const { items, give } = handed()
  const { judge, ask } = judgeOf()
  const iterator = whileAllowed(items, ask)[Symbol.asyncIterator]()
  const coming = iterator.next().catch((error: unknown) => error)
  judge.refuses = true
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await coming).toEqual(new Error('not any more'))
  expect(items.left).toBe(true)
  give('too late')
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
  expect(vi.getTimerCount()).toBe(0)
})

test('a refusal ends them before an item that comes after a second, and before the end', async () => {
  for (const finish of ['give', 'end'] as const) {
    const source = handed()
    const { judge, ask } = judgeOf()
    const iterator = whileAllowed(source.items, ask)[Symbol.asyncIterator]()
    judge.refuses = true
    if (finish === 'give') vi.advanceTimersByTime(1_500)
    const coming = iterator.next()
    source[finish]('x')
    await expect(coming).rejects.toThrow('not any more')
  }
})

test('an error of the items reaches the reader', async () => {
  async function* broken(): AsyncGenerator<string> {
    yield 'a'
    throw new Error('broken')
  }
  const read: string[] = []
  await expect(async () => {
    for await (const item of whileAllowed(broken(), async () => {})) read.push(item)
  }).rejects.toThrow('broken')
  expect(read).toEqual(['a'])
})

test('a reader that leaves lets their source go', async () => {
  const { items, give } = handed()
  const iterator = whileAllowed(items, async () => {})[Symbol.asyncIterator]()
  const coming = iterator.next()
  give('a')
  await coming
  await iterator.return?.()
  expect(items.left).toBe(true)
})

test('a reader that leaves while the judge is asked is judged no more', async () => {
  const { items } = handed()
  let decide = () => {}
  let asked = 0
  const judge = () => {
    asked += 1
    return new Promise<void>((resolve) => {
      decide = resolve
    })
  }
  const iterator = whileAllowed(items, judge)[Symbol.asyncIterator]()
  void iterator.next()
  await vi.advanceTimersByTimeAsync(1_000)
  await iterator.return?.()
  decide()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(asked).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})
