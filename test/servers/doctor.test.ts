import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { diagnosed } from '../support/doctor.js'
import { freePort } from '../support/program.js'
import { lookInto, startRedis } from '../support/redis-server.js'

test('a Redis that keeps every key is fine', async () => {
  const redis = await startRedis()
  const settings = { redis: redis.url }
  for (const code of ['redis_unreachable', 'redis_evicts'])
    expect(await diagnosed(code, { settings })).toMatchObject([{ ok: true, skipped: null }])
})

test('a Redis that may evict counters is found, by URL and by a client of the application', async () => {
  const redis = await startRedis()
  await lookInto(redis.url).config('SET', 'maxmemory-policy', 'allkeys-lru')
  const finding = `The maxmemory-policy of 127.0.0.1:${redis.port} is allkeys-lru.`
  expect(await diagnosed('redis_evicts', { settings: { redis: redis.url } })).toMatchObject([
    { ok: false, level: 'warn', finding },
  ])
  const client = new Redis(redis.url)
  onTestFinished(() => client.disconnect())
  expect(await diagnosed('redis_evicts', { settings: { redis: client } })).toMatchObject([
    { ok: false, finding: 'The maxmemory-policy of the given client is allkeys-lru.' },
  ])
  expect(client.status).toBe('ready')
})

test('a Redis that is not there, or refuses the password, is found without the password', async () => {
  const port = await freePort()
  expect(await diagnosed('redis_unreachable', { settings: { redis: `redis://127.0.0.1:${port}` } })).toMatchObject([
    { ok: false, level: 'error', finding: `127.0.0.1:${port} cannot be used: ECONNREFUSED.` },
  ])
  const redis = await startRedis(['--requirepass', 'right'])
  const settings = { redis: `redis://:wr0ng@127.0.0.1:${redis.port}` }
  const results = await diagnosed('redis_unreachable', { settings })
  expect(results).toMatchObject([{ ok: false, finding: expect.stringContaining('WRONGPASS') }])
  expect(JSON.stringify(results)).not.toContain('wr0ng')
})

test('without Redis nothing is asked', async () => {
  expect(await diagnosed('redis_evicts')).toMatchObject([{ ok: true, skipped: 'The setting redis is not given.' }])
})
