import { expect, test } from 'vitest'
import type { CounterRule } from '../../../src/model/counter.js'
import type { Counters } from '../../../src/store/counters.js'
import { atOnce, now } from './rows.js'

const id = 'a'.repeat(43)
const perMinute: CounterRule = { limit: 3, windowSeconds: 60 }
const withWait: CounterRule = { limit: 3, windowSeconds: 60, waitSeconds: 600 }
const withLong: CounterRule = { limit: 3, windowSeconds: 60, long: { limit: 5, windowSeconds: 1_000 } }

/** Counters of one process, and how another process gets at the same ones. */
interface CountersUnderTest {
  store: { counters: Counters }
  openSecond: (() => Promise<{ counters: Counters }>) | null
}

/** Hits one after the other; true for each that was counted. */
async function counted({ store }: CountersUnderTest, rule: CounterRule, at: number, times: number): Promise<number> {
  let sum = 0
  for (let time = 0; time < times; time += 1) if ((await store.counters.hit(id, rule, at)).counted) sum += 1
  return sum
}

export function countersContract(current: () => CountersUnderTest): void {
  windowContract(current)
  crowdContract(current)
  forgettingContract(current)
}

/** Of counters that do not go by themselves. */
export function sweptCountersContract(current: () => CountersUnderTest): void {
  test('only counters that can refuse nobody are dropped, so many at a time', async () => {
    const { counters } = current().store
    await counted(current(), withLong, now, 3)
    for (const name of ['one', 'two', 'three']) await counters.hit(name, perMinute, now)
    await counters.hit('three', perMinute, now + 1)

    expect(await counters.prune(now + 59, 10)).toBe(0)
    expect(await counters.prune(now + 60, 1)).toBe(1)
    expect(await counters.prune(now + 60, 10)).toBe(1)
    expect(await counters.prune(now + 61, 10)).toBe(1)
    expect(await counted(current(), withLong, now + 999, 9)).toBe(2)
    expect(await counters.prune(now + 1_998, 10)).toBe(0)
    expect(await counters.prune(now + 1_999, 10)).toBe(1)
  })
}

function windowContract(current: () => CountersUnderTest): void {
  test('a counter tells what is left and when its window, which began with the first hit, ends', async () => {
    const { counters } = current().store
    expect(await counters.hit(id, perMinute, now)).toEqual({ counted: true, remaining: 2, resetsAt: now + 60 })
    expect(await counters.hit(id, perMinute, now + 20)).toEqual({ counted: true, remaining: 1, resetsAt: now + 60 })
    expect(await counters.hit(id, perMinute, now + 59)).toEqual({ counted: true, remaining: 0, resetsAt: now + 60 })
    expect(await counters.hit(id, perMinute, now + 59)).toEqual({ counted: false, remaining: 0, resetsAt: now + 60 })
    expect(await counters.hit(id, perMinute, now + 60)).toEqual({ counted: true, remaining: 2, resetsAt: now + 120 })
  })

  test('hits that are refused move nothing', async () => {
    await counted(current(), perMinute, now, 3)
    expect(await counted(current(), perMinute, now + 59, 50)).toBe(0)
    expect(await counted(current(), perMinute, now + 60, 50)).toBe(3)
  })

  test('a wait begins with the hit that fills the counter, and ends', async () => {
    const { counters } = current().store
    expect(await counted(current(), withWait, now, 2)).toBe(2)
    expect(await counters.hit(id, withWait, now + 50)).toEqual({ counted: true, remaining: 0, resetsAt: now + 650 })
    expect(await counters.hit(id, withWait, now + 649)).toEqual({ counted: false, remaining: 0, resetsAt: now + 650 })
    expect(await counters.hit(id, withWait, now + 650)).toEqual({ counted: true, remaining: 2, resetsAt: now + 710 })
  })

  test('a counter that is not full does not wait', async () => {
    expect(await counted(current(), withWait, now, 2)).toBe(2)
    expect(await counted(current(), withWait, now + 60, 2)).toBe(2)
  })

  test('where one hit is all there may be, it waits at once', async () => {
    const one = { ...withWait, limit: 1 }
    expect(await counted(current(), one, now, 2)).toBe(1)
    expect(await counted(current(), one, now + 599, 2)).toBe(0)
    expect(await counted(current(), one, now + 600, 2)).toBe(1)
  })

  test('a long window counts what the short ones let through', async () => {
    expect(await counted(current(), withLong, now, 9)).toBe(3)
    expect(await counted(current(), withLong, now + 60, 9)).toBe(2)
    expect(await counted(current(), withLong, now + 999, 9)).toBe(0)
    expect(await current().store.counters.hit(id, withLong, now + 999)).toMatchObject({ resetsAt: now + 1_000 })
    expect(await counted(current(), withLong, now + 1_000, 9)).toBe(3)
  })

  test('a long window that was refused has not counted in the short one, and the other way round', async () => {
    await counted(current(), withLong, now, 9)
    expect(await counted(current(), { ...withLong, limit: 100 }, now, 9)).toBe(2)
    expect(await counted(current(), { ...withLong, long: { limit: 100, windowSeconds: 1_000 } }, now + 60, 9)).toBe(3)
  })

  test('counters know nothing of each other', async () => {
    const { counters } = current().store
    await counted(current(), perMinute, now, 3)
    expect(await counters.hit('another', perMinute, now)).toMatchObject({ counted: true, remaining: 2 })
    expect(await counters.hit(id.toUpperCase(), perMinute, now)).toMatchObject({ counted: true, remaining: 2 })
  })
}

function crowdContract(current: () => CountersUnderTest): void {
  const limited = { limit: 10, windowSeconds: 60, waitSeconds: 600, long: { limit: 25, windowSeconds: 100_000 } }

  async function crowd(at: number): Promise<number> {
    const { store, openSecond } = current()
    const stores = [store, (await openSecond?.()) ?? store]
    const hits = await atOnce(async (index) => stores[index % 2]?.counters.hit(id, limited, at), 50)
    return hits.filter((hit) => hit?.counted).length
  }

  test('ATK-017 of 50 hits at once on two processes, exactly as many count as there is room for', async () => {
    expect(await crowd(now)).toBe(10)
    expect(await crowd(now + 599)).toBe(0)
    expect(await crowd(now + 600)).toBe(10)
    expect(await crowd(now + 1_200)).toBe(5)
    expect(await crowd(now + 1_800)).toBe(0)
  })

  test('hits of many counters and many rules at once are counted each for itself', async () => {
    const { counters } = current().store
    await counted(current(), perMinute, now, 3)
    const hits = await Promise.all([
      counters.hit('another', perMinute, now),
      counters.hit(id, perMinute, now + 59),
      counters.hit('another', { limit: 9, windowSeconds: 60 }, now),
      counters.hit('third', { limit: 9, windowSeconds: 600 }, now),
    ])
    expect(hits).toEqual([
      { counted: true, remaining: expect.any(Number), resetsAt: now + 60 },
      { counted: false, remaining: 0, resetsAt: now + 60 },
      { counted: true, remaining: expect.any(Number), resetsAt: now + 60 },
      { counted: true, remaining: 8, resetsAt: now + 600 },
    ])
    expect(await counters.hit('another', perMinute, now)).toMatchObject({ remaining: 0 })
  })
}

function forgettingContract(current: () => CountersUnderTest): void {
  test('a counter that is forgotten begins anew, in both windows, and no other does', async () => {
    const { counters } = current().store
    await counted(current(), withLong, now, 3)
    await counters.hit('another', perMinute, now)
    await counters.forget([])
    expect(await counted(current(), withLong, now, 9)).toBe(0)
    await counters.forget([id, 'never seen'])
    expect(await counted(current(), withLong, now, 9)).toBe(3)
    expect(await counted(current(), withLong, now + 60, 9)).toBe(2)
    expect(await counters.hit('another', perMinute, now)).toMatchObject({ remaining: 1 })
  })
}
