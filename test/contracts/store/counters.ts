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
  togetherContract(current)
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

function togetherContract(current: () => CountersUnderTest): void {
  const group = 'g'.repeat(43)
  const total = { id: `${group}.total`, rule: { limit: 5, windowSeconds: 1_000 } }
  const asker = (name: string) => ({ id: `${group}.${name}`, rule: withLong })
  const together = (name: string, at: number) => current().store.counters.hitTogether([asker(name), total], at)

  test('counters that are counted together fill each for itself, and the fullest decides', async () => {
    for (let time = 0; time < 3; time += 1) expect(await together('one', now)).toBe(null)
    expect(await together('one', now)).toBe(now + 60)
    expect(await together('other', now)).toBe(null)
    expect(await together('other', now + 1)).toBe(null)
    expect(await together('other', now + 2)).toBe(now + 1_000)
    expect(await current().store.counters.hit(total.id, total.rule, now)).toMatchObject({ counted: false })
  })

  test('a hit that one of them refuses fills none', async () => {
    for (let time = 0; time < 20; time += 1) await together('one', now)
    for (const name of ['other', 'third']) expect(await together(name, now)).toBe(null)
    for (let time = 0; time < 20; time += 1) expect(await together('last', now)).toBe(now + 1_000)
    const { counters } = current().store
    expect(await counters.hit(asker('last').id, withLong, now)).toMatchObject({ counted: true, remaining: 2 })
    expect(await counters.hit(asker('other').id, withLong, now)).toMatchObject({ counted: true, remaining: 1 })
  })

  test('when several are full, the answer is when all have room', async () => {
    for (let time = 0; time < 3; time += 1) await together('one', now)
    for (let time = 0; time < 2; time += 1) await together('other', now + 999)
    expect(await together('one', now + 59)).toBe(now + 1_000)
    for (let time = 0; time < 2; time += 1) expect(await together('one', now + 1_000)).toBe(null)
  })

  test('windows end and begin anew as those of a single counter', async () => {
    for (let time = 0; time < 3; time += 1) expect(await together('one', now)).toBe(null)
    for (let time = 0; time < 2; time += 1) expect(await together('one', now + 60)).toBe(null)
    expect(await together('one', now + 120)).toBe(now + 1_000)
    expect(await together('one', now + 1_000)).toBe(null)
  })

  test('of 40 at once on two processes, as many count as each and all have room for', async () => {
    const { store, openSecond } = current()
    const second = (await openSecond?.()) ?? store
    const ten = { ...total, rule: { ...total.rule, limit: 10 } }
    const askers = [0, 1, 2, 3].map((index) => asker(`n${index}`))
    const answers = await atOnce(async (index) => {
      const one = askers[index % askers.length]
      return one && (index % 8 < 4 ? store : second).counters.hitTogether([one, ten], now)
    }, 40)
    expect(answers.filter((answer) => answer === null)).toHaveLength(10)
    const wide = { limit: 100, windowSeconds: 60, long: { limit: 100, windowSeconds: 1_000 } }
    const left = await Promise.all(askers.map(({ id }) => store.counters.hit(id, wide, now)))
    expect(left.reduce((sum, { remaining }) => sum + 99 - remaining, 0)).toBe(10)
  })

  test('counters of a group are forgotten one by one', async () => {
    for (let time = 0; time < 3; time += 1) await together('one', now)
    await current().store.counters.forget([asker('one').id])
    for (let time = 0; time < 2; time += 1) expect(await together('one', now)).toBe(null)
    expect(await together('one', now)).toBe(now + 1_000)
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
