import { expect, test } from 'vitest'
import { FairQueue } from '../../src/passwords/hash-pool.js'

const stranger = (key: string) => ({ key, known: false })
const known = { key: 'device 1', known: true }

/** Adds as many of that key as there is room for; how many that were. */
function fill(queue: FairQueue, key: string, started: string[]): number {
  let count = 0
  while (queue.hasRoom(stranger(key))) {
    void queue.wait(stranger(key)).then(() => started.push(key))
    count += 1
  }
  return count
}

async function startAll(queue: FairQueue): Promise<void> {
  while (queue.startNext()) await Promise.resolve()
}

test('ATK-296 no number of networks leaves no place for another one, nor for a known device', () => {
  const queue = new FairQueue(64)
  const filled = ['a', 'b', 'c', 'd'].map((key) => fill(queue, key, []))
  expect(filled).toEqual([32, 16, 8, 4])
  expect(queue.hasRoom(stranger('e'))).toBe(true)
  expect(queue.hasRoom(known)).toBe(true)
  for (let nth = 0; nth < 100; nth += 1) fill(queue, `more ${nth}`, [])
  expect(queue.hasRoom(stranger('e'))).toBe(false)
  expect(queue.hasRoom(known)).toBe(true)
  expect(queue.size()).toBe(64)
})

test('ATK-296 known devices of other accounts leave a place for each further one, up to four times the places in all', () => {
  const queue = new FairQueue(64)
  const device = (nth: number) => ({ key: `device ${nth}`, known: true })
  const fillKnown = (nth: number) => {
    let count = 0
    for (; queue.hasRoom(device(nth)); count += 1) void queue.wait(device(nth))
    return count
  }
  expect([1, 2, 3, 4, 5, 6, 7].map(fillKnown)).toEqual([8, 4, 2, 1, 1, 1, 1])
  for (let nth = 0; nth < 100; nth += 1) fill(queue, `network ${nth}`, [])
  for (let nth = 8; nth < 500; nth += 1) fillKnown(nth)
  expect(queue.size()).toBe(4 * 64)
  expect(queue.hasRoom(device(500))).toBe(false)
})

test('ATK-296 networks alternate, and a known device has every other one', async () => {
  const queue = new FairQueue(16)
  const started: string[] = []
  const add = (key: string, isKnown = false) => void queue.wait({ key, known: isKnown }).then(() => started.push(key))
  for (let nth = 0; nth < 4; nth += 1) add('a')
  add('b')
  add('own', true)
  add('own', true)
  await startAll(queue)
  expect(started).toEqual(['own', 'a', 'own', 'b', 'a', 'a', 'a'])
  expect(queue.startNext()).toBe(false)
})

test('a queue without places takes none, and one of a single place takes one', () => {
  expect(new FairQueue(0).hasRoom(stranger('a'))).toBe(false)
  expect(new FairQueue(0).hasRoom(known)).toBe(false)
  const one = new FairQueue(1)
  expect(fill(one, 'a', [])).toBe(1)
  expect(one.hasRoom()).toBe(false)
})
