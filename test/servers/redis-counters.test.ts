import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CounterRule } from '../../src/model/counter.js'
import { openRedis, type RedisStore } from '../../src/store/redis/open.js'
import { countersContract } from '../contracts/store/counters.js'
import { randomId } from '../support/databases.js'
import { dropKeys, lookInto, openTestRedis, redisOptions } from '../support/redis-server.js'

const now = 1_700_000_000
const perMinute: CounterRule = { limit: 3, windowSeconds: 60 }
const aYear = 365 * 24 * 3_600
const withYear: CounterRule = { limit: 3, windowSeconds: 60, long: { limit: 100, windowSeconds: aYear } }

describe('the contract of counters', () => {
  let installationId = ''
  let opened: RedisStore[] = []

  const open = async () => {
    const redis = await openRedis(redisOptions({ installationId }))
    opened.push(redis)
    return redis
  }
  beforeEach(async () => {
    installationId = `test-${randomId()}`
    opened = []
    await open()
  })
  afterEach(async () => {
    for (const redis of opened) await redis.close()
    await dropKeys(installationId)
  })

  countersContract(() => {
    const [store] = opened
    if (!store) throw new Error('not open')
    return { store, openSecond: open }
  })
})

describe('races', () => {
  test('of 200 hits at once over four connections exactly as many count as there is room for', async () => {
    const installationId = `test-${randomId()}`
    const processes = await Promise.all([1, 2, 3, 4].map(() => openTestRedis({ installationId })))
    const rule: CounterRule = {
      limit: 37,
      windowSeconds: 60,
      waitSeconds: 600,
      long: { limit: 50, windowSeconds: aYear },
    }
    const crowd = async (at: number) => {
      const asked = Array.from({ length: 200 }, (_, index) => processes[index % 4]?.counters.hit('one', rule, at))
      return (await Promise.all(asked)).filter((hit) => hit?.counted)
    }
    const first = await crowd(now)
    expect(first).toHaveLength(37)
    // Each was counted at a place of its own.
    expect(new Set(first.map((hit) => hit?.remaining)).size).toBe(37)
    expect(await crowd(now + 599)).toHaveLength(0)
    expect(await crowd(now + 600)).toHaveLength(13)
  })
})

describe('memory', () => {
  test('every key ends by itself, a minute after its last window; a full counter is not written to', async () => {
    const installationId = `test-${randomId()}`
    const { counters } = await openTestRedis({ installationId })
    const redis = lookInto()
    const ttl = (id: string) => redis.ttl(`latchkey:${installationId}:counter:${id}`)

    await counters.hit('short', perMinute, now)
    expect(await ttl('short')).toBeGreaterThan(115)
    expect(await ttl('short')).toBeLessThanOrEqual(120)
    await counters.hit('wait', { ...perMinute, limit: 1, waitSeconds: 900 }, now)
    expect(await ttl('wait')).toBeGreaterThan(955)
    await counters.hit('year', withYear, now)
    await counters.hit('year', withYear, now + aYear - 10)
    expect(await ttl('year')).toBeLessThanOrEqual(10 + 50 + 60)
    await counters.hit('year', withYear, now + aYear)
    expect(await ttl('year')).toBeGreaterThan(aYear)

    for (let hits = 0; hits < 3; hits += 1) await counters.hit('short', perMinute, now)
    await redis.expire(`latchkey:${installationId}:counter:short`, 5)
    expect(await counters.hit('short', perMinute, now + 1)).toMatchObject({ counted: false })
    expect(await ttl('short')).toBeLessThanOrEqual(5)

    const keys = await redis.keys(`latchkey:${installationId}:*`)
    expect(keys.map((key) => key.split(':').at(-1)).sort()).toEqual(['short', 'wait', 'year'])
    for (const key of keys) expect(await redis.ttl(key), key).toBeGreaterThan(0)
  })

  test('a counter of a stranger takes less than 250 bytes', async () => {
    const installationId = `test-${randomId()}`
    const { counters } = await openTestRedis({ installationId })
    const redis = lookInto()
    const sizes = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const id = randomId() + randomId()
        await counters.hit(id, withYear, now)
        return Number(await redis.memory('USAGE', `latchkey:${installationId}:counter:${id}`))
      }),
    )
    expect(Math.max(...sizes)).toBeLessThan(250)
  })
})

describe('one server for many', () => {
  test('two installations on it know nothing of each other', async () => {
    const [one, other] = [await openTestRedis(), await openTestRedis()]
    for (let hits = 0; hits < 3; hits += 1) await one.counters.hit('same', perMinute, now)
    expect(await one.counters.hit('same', perMinute, now)).toMatchObject({ counted: false })
    expect(await other.counters.hit('same', perMinute, now)).toMatchObject({ counted: true, remaining: 2 })
  })

  test('a server that has forgotten its scripts is given them again', async () => {
    const { counters } = await openTestRedis()
    await counters.hit('same', perMinute, now)
    await lookInto().script('FLUSH')
    expect(await counters.hit('same', perMinute, now)).toMatchObject({ counted: true, remaining: 1 })
  })
})
