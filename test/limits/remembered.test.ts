import { expect, test } from 'vitest'
import { createLimiter } from '../../src/limits/counters.js'
import { limits } from '../../src/settings/limits.js'
import { openSqliteMemory } from '../support/databases.js'
import { inTurn, ipOf, leap, limitedAuth, times } from '../support/limits.js'
import { watchedDatabase } from '../support/watched-database.js'

test('ATK-235 a refused address costs no statement until its window ends, and the headers stay right', async () => {
  let statements = 0
  const { dialect } = watchedDatabase({
    before(sql) {
      if (sql.includes('latchkey_counters')) statements += 1
    },
  })
  const world = await limitedAuth({ database: dialect })
  const client = world.client()
  const ask = () => client.get('/auth/nothing-set')
  expect(await inTurn(300, () => client.get('/auth/me'))).toEqual(times(300, 401))
  expect((await client.get('/auth/me')).status).toBe(429)
  expect((await ask()).status).toBe(404)
  const counted = statements
  await leap(world, 20)
  expect(await inTurn(2_000, () => client.get('/auth/me'))).toEqual(times(2_000, 429))
  expect(statements).toBe(counted)
  const refused = await client.get('/auth/me')
  expect(refused.headers.get('ratelimit')).toBe('"other";r=0;t=40')
  expect(refused.headers.get('ratelimit-policy')).toBe('"other";q=300;w=60')
  expect(refused.headers.get('retry-after')).toBe('40')
  expect(refused.body).toMatchObject({ code: 'rate_limited' })
  expect((await world.client({ ip: ipOf(9) }).get('/auth/me')).status).toBe(401)
  await leap(world, 40)
  expect((await client.get('/auth/me')).headers.get('ratelimit')).toBe('"other";r=299;t=60')
})

async function counting() {
  const { store, close } = await openSqliteMemory()
  let hits = 0
  let now = 1_700_000_000
  const counters = {
    ...store.counters,
    hit: (...given: Parameters<typeof store.counters.hit>) => {
      hits += 1
      return store.counters.hit(...given)
    },
  }
  const limiter = createLimiter({
    counters,
    limits: limits.parse({ other: { ip: '1/1h' }, login: { ip: '1/1h', account: '1/1h' } }),
    now: () => now,
  })
  const pass = (seconds: number) => {
    now += seconds
  }
  return { limiter, close, hits: () => hits, pass }
}

test('ATK-235 the memory of refused addresses is bounded: one that was pushed out is refused by the store', async () => {
  const { limiter, close, hits } = await counting()
  const fill = async (ip: string) => {
    await limiter.request('other', ip)
    return limiter.request('other', ip)
  }
  await fill('192.0.2.1')
  expect(limiter.refusedRequest('other', '192.0.2.1')).toMatchObject({ allowed: false, remaining: 0 })
  for (let index = 0; index < 10_001; index += 1) await fill(ipOf(index))
  expect(limiter.refusedRequest('other', '192.0.2.1')).toBeNull()
  const before = hits()
  expect(await limiter.request('other', '192.0.2.1')).toMatchObject({ allowed: false })
  expect(hits()).toBe(before + 1)
  await close()
})

test('a full count of failures is asked of the store each time, because a success in another process empties it', async () => {
  const { limiter, close, hits } = await counting()
  await limiter.account('login', 'ada@example.test')
  for (let count = 1; count <= 3; count += 1) {
    expect(await limiter.account('login', 'ada@example.test')).toMatchObject({ allowed: false })
    expect(hits()).toBe(count + 1)
  }
  await limiter.forget('login', ['ada@example.test'])
  expect(await limiter.account('login', 'ada@example.test')).toMatchObject({ allowed: true })
  await close()
})

test('a full counter opens by time, and the /64 of an IPv6 address is remembered as one', async () => {
  const { limiter, close, pass } = await counting()
  await limiter.request('other', '2001:db8::1')
  expect(await limiter.request('other', '2001:db8::2')).toMatchObject({ allowed: false, resetSeconds: 3_600 })
  pass(3_599)
  expect(limiter.refusedRequest('other', '2001:db8::3')).toMatchObject({ resetSeconds: 1 })
  expect(limiter.refusedRequest('other', '2001:db8:0:1::3')).toBeNull()
  expect(limiter.refusedRequest('login', '2001:db8::3')).toBeNull()
  pass(1)
  expect(limiter.refusedRequest('other', '2001:db8::3')).toBeNull()
  expect(await limiter.request('other', '2001:db8::3')).toMatchObject({ allowed: true })
  await close()
})
