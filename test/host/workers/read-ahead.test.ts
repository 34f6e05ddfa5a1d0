import { expect, test, vi } from 'vitest'
import { createReadAhead } from '../../../src/host/workers/read-ahead.js'

/** A worker that gives 100,000 characters whenever it is asked, to readers of one memory. */
function bed() {
  const held = { characters: 0 }
  const timers = new Set<() => void>()
  const timer = (_milliseconds: number, callback: () => void) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  function reader({ isPlaceWanted = false } = {}) {
    const onSlow = vi.fn()
    let asked = 0
    const ask = () => {
      asked += 1
    }
    const events = createReadAhead({ held, timer, ask, isPlaceWanted: () => isPlaceWanted, onSlow })
    /** Gives what is asked for. */
    const give = () => {
      for (; asked > 0; asked -= 1) events.put({ kind: 'rows', text: 'x'.repeat(100_000) })
    }
    give()
    return { ...events, onSlow, give }
  }
  const pass = () => {
    const due = [...timers]
    timers.clear()
    for (const callback of due) callback()
  }
  return { held, timers, reader, pass }
}

test('1 MiB of rows is held for one reader, and 16 MiB for all; each gets its next row all the same', async () => {
  const { held, reader } = bed()
  const readers = Array.from({ length: 14 }, () => reader())
  expect(held.characters).toBe(14 * 1_100_000)
  const [first, next] = [reader(), reader()]
  expect(held.characters).toBe(16_800_000)
  const late = reader()
  expect(held.characters).toBe(16_900_000)
  for (let read = 0; read < 30; read += 1) {
    expect(await late.next()).toMatchObject({ kind: 'rows' })
    late.give()
  }
  for (const one of [...readers, first, next, late]) one.leave()
  expect(held.characters).toBe(0)
})

test('the rows of a reader that has left are dropped, and none is added', async () => {
  const { held, timers, reader } = bed()
  const left = reader()
  left.leave()
  left.end(new Error('over'))
  left.put({ kind: 'rows', text: 'x' })
  await expect(left.next()).rejects.toThrow('over')
  expect([held.characters, timers.size]).toEqual([0, 0])
})

test('a reader is slow after 2 s in all during which its memory is full, if another task waits', async () => {
  const { reader, pass } = bed()
  const [free, wanted] = [reader(), reader({ isPlaceWanted: true })]
  for (let stretch = 0; stretch < 3; stretch += 1) {
    pass()
    for (const one of [free, wanted]) {
      await one.next()
      one.give()
    }
  }
  expect(wanted.onSlow).not.toHaveBeenCalled()
  pass()
  expect([free.onSlow.mock.calls, wanted.onSlow.mock.calls]).toEqual([
    [],
    [[expect.objectContaining({ code: 'busy' })]],
  ])
})

test('a row that a reader still sends counts until it asks for the next one', async () => {
  const { held, reader } = bed()
  const one = reader()
  const all = held.characters
  await one.next()
  expect(held.characters).toBe(all)
  await one.next()
  expect(held.characters).toBe(all - 100_000)
  one.leave()
  expect(held.characters).toBe(0)
})
