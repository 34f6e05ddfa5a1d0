import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAuth } from '../../src/index.js'
import type { CounterRule } from '../../src/model/counter.js'
import { openRedis } from '../../src/store/redis/open.js'
import { createTestClient, createTestMailbox, createTestRuntime, testSettings } from '../../src/testing.js'
import { ada } from '../support/auth.js'
import { freePort } from '../support/program.js'
import { startCluster, startSentinelGroup } from '../support/redis-groups.js'
import { keptLines, lookInto, redisOptions, startRedis, until } from '../support/redis-server.js'

const now = 1_700_000_000
const rule: CounterRule = { limit: 1_000_000, windowSeconds: 60 }

/** The application's client; closed when the test ends. */
function givenClient(url: string, options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
  const client = new Redis(url, options)
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return client
}

async function openWith(redis: Redis | Cluster, installationId = 'given') {
  const { lines, logger } = keptLines()
  const opened = await openRedis(redisOptions({ redis, installationId, logger }))
  onTestFinished(() => opened.close())
  return { ...opened, lines }
}

async function refusal(redis: string | Redis): Promise<string> {
  const error: unknown = await openRedis(redisOptions({ redis })).catch((reason: unknown) => reason)
  return error instanceof Error ? error.message : 'opened'
}

describe('a client that the application gives', () => {
  test('counts and wakes, and stays open with its own listeners when Latchkey closes', async () => {
    const server = await startRedis()
    const client = givenClient(server.url)
    const other = givenClient(server.url)
    const before = client.eventNames().map((name) => [name, client.listenerCount(name)])
    const [one, two] = [await openWith(client), await openWith(other)]
    expect(await one.counters.hit('one', { ...rule, limit: 2 }, now)).toMatchObject({ remaining: 1 })
    expect(await two.counters.hit('one', { ...rule, limit: 2 }, now)).toMatchObject({ remaining: 0 })
    expect(await one.ping()).toBe('PONG')
    let wakes = 0
    two.wake.listen(() => {
      wakes += 1
    })
    await until('it is woken', () => {
      one.wake.notify()
      return wakes > 2
    })

    const connections = await server.clients()
    await one.close()
    expect(await client.ping()).toBe('PONG')
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(before)
    await until('its subscriber is gone', async () => (await server.clients()) === connections - 1)
  })

  test('keeps its prefix before ours', async () => {
    const server = await startRedis()
    const { counters } = await openWith(givenClient(server.url, { keyPrefix: 'shop:' }))
    await counters.hit('one', rule, now)
    expect(await lookInto(server.url).keys('*')).toEqual(['shop:latchkey:given:counter:one'])
  })

  test('is waited for where it connects late, also where it queues nothing', async () => {
    const server = await startRedis()
    const late: Omit<RedisOptions, 'replyMapping'>[] = [{ lazyConnect: true }, { enableOfflineQueue: false }]
    for (const options of late) {
      const { counters } = await openWith(givenClient(server.url, options))
      expect(await counters.hit('one', rule, now)).toMatchObject({ counted: true })
    }
  })

  test('may retry for ever: hits are 503 all the same while the server is away, and none of them is counted later', async () => {
    const server = await startRedis()
    const client = givenClient(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
    const { counters, lines } = await openWith(client)
    await server.kill()
    await until('it notices', () => client.status !== 'ready')
    const hits = Array.from({ length: 20 }, () => counters.hit('one', rule, now).catch((error: unknown) => error))
    for (const hit of await Promise.all(hits)) expect(hit).toMatchObject({ code: 'store_unavailable', status: 503 })
    await server.start()
    await until('it is back', () => client.status === 'ready')
    expect(await counters.hit('one', rule, now)).toMatchObject({ remaining: rule.limit - 1 })
    expect(lines.map(({ level, fields, message }) => [level, fields.server, message])).toEqual([
      [
        'error',
        'the given client',
        'Redis cannot be reached, so counted requests get 503. Check that the server runs; the connection comes back by itself.',
      ],
      ['warn', 'the given client', 'Redis can be reached again.'],
    ])
  })

  test('may stand before a server that hangs: hits are 503 in time, and count again when it goes on', async () => {
    const server = await startRedis()
    const { counters } = await openWith(givenClient(server.url, { maxRetriesPerRequest: null }))
    server.signal('SIGSTOP')
    await expect(counters.hit('one', rule, now)).rejects.toMatchObject({ code: 'store_unavailable' })
    server.signal('SIGCONT')
    await until('hits count', () => counters.hit('one', rule, now).catch(() => null))
  })

  test('that is closed, finds no Sentinel or is subscribed to a channel is refused', async () => {
    const server = await startRedis()
    const closed = givenClient(server.url)
    closed.disconnect()
    await until('it is closed', () => closed.status === 'end')
    expect(await refusal(closed)).toBe('redis: the given client cannot be used: no connection.')
    const sentinels = [{ host: '127.0.0.1', port: await freePort() }]
    const lost = new Redis({ sentinels, name: 'app', sentinelRetryStrategy: () => null })
    onTestFinished(() => lost.disconnect())
    expect(await refusal(lost)).toBe('redis: the given client cannot be used: no Sentinel answers.')
    const subscribed = givenClient(server.url, { protocol: 2 })
    await subscribed.subscribe('news')
    expect(await refusal(subscribed)).toContain('the client is subscribed to a channel')
  })

  test('serves an application from sign-up to sign-out, and outlives it', async () => {
    const server = await startRedis()
    const redis = givenClient(server.url)
    const mailbox = createTestMailbox()
    const auth = createAuth(testSettings({ mailbox, redis, limits: {} }), createTestRuntime())
    const browser = createTestClient(auth, { mailbox, ip: '203.0.113.7' })
    await browser.signUp(ada)
    expect((await browser.refresh()).status).toBe(200)
    expect((await browser.signOut()).status).toBe(204)
    expect(await auth.health()).toMatchObject({ redis: { ok: true } })
    expect(await redis.keys('latchkey:*:counter:*')).not.toEqual([])
    await auth.close()
    expect(await redis.ping()).toBe('PONG')
  })
})

describe('Redis Sentinel', () => {
  test('its own port is refused as a URL, which says what to give instead', async () => {
    const { sentinelPort } = await startSentinelGroup()
    expect(await refusal(`redis://127.0.0.1:${sentinelPort}`)).toBe(
      `redis: 127.0.0.1:${sentinelPort} cannot be used: it is a Redis Sentinel, which holds no data. Give \`redis\` an ioredis client instead: new Redis({ sentinels: [{ host, port }], name }).`,
    )
  })

  test('a client of it follows a failover, which is logged; hits and wake-ups go on', async () => {
    const { primary, replica, sentinelPort, name } = await startSentinelGroup()
    const open = async () => {
      const client = new Redis({
        sentinels: [{ host: '127.0.0.1', port: sentinelPort }],
        name,
        sentinelRetryStrategy: () => 100,
      })
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return openWith(client)
    }
    const [one, two] = [await open(), await open()]
    expect(await one.counters.hit('one', rule, now)).toMatchObject({ counted: true })
    await primary.kill()
    const hit = () => one.counters.hit('two', rule, now).catch(() => null)
    await until('hits count at the other server', hit)
    expect(await lookInto(replica.url).exists('latchkey:given:counter:two')).toBe(1)
    expect(one.lines.at(-1)).toMatchObject({
      level: 'warn',
      fields: { event: 'redis', address: `127.0.0.1:${replica.port}`, former: `127.0.0.1:${primary.port}` },
      message: 'Redis failed over to another server.',
    })
    let wakes = 0
    two.wake.listen(() => {
      wakes += 1
    })
    const before = wakes
    await until('it is woken', () => {
      one.wake.notify()
      return wakes > before + 1
    })
  })
})

describe('Redis Cluster', () => {
  test('a node of it is refused as a URL, which says what to give instead', async () => {
    const { primaries } = await startCluster()
    for (const { url } of primaries) {
      const advice = '(MOVED). Give `redis` an ioredis client instead: new Cluster([{ host, port }]).'
      expect(await refusal(url)).toContain(advice)
    }
  })

  test('a client of it counts on all nodes, wakes others, and follows a failover, which is logged', async () => {
    const { primaries, replica } = await startCluster()
    const open = async () => {
      const client = new Cluster(
        primaries.map(({ port }) => ({ host: '127.0.0.1', port })),
        { slotsRefreshInterval: 200, clusterRetryStrategy: () => 100 },
      )
      client.on('error', () => {})
      onTestFinished(() => client.disconnect())
      return openWith(client)
    }
    const [one, two] = [await open(), await open()]
    const ids = Array.from({ length: 60 }, (_, index) => `key-${index}`)
    for (const id of ids) expect(await one.counters.hit(id, rule, now)).toMatchObject({ counted: true })
    for (const id of ids) expect(await two.counters.hit(id, rule, now)).toMatchObject({ remaining: rule.limit - 2 })
    for (const { url } of primaries) expect(await lookInto(url).dbsize()).toBeGreaterThan(5)

    let wakes = 0
    two.wake.listen(() => {
      wakes += 1
    })
    const woken = () => {
      one.wake.notify()
      return wakes > 2
    }
    await until('it is woken', woken)

    await primaries[0]?.kill()
    const all = () => Promise.all(ids.map((id) => one.counters.hit(id, rule, now))).catch(() => null)
    await until('hits count on all nodes', all)
    expect(await lookInto(replica.url).dbsize()).toBeGreaterThan(5)
    await until('it is logged', () => one.lines.some(({ message }) => message === 'A node left the Redis cluster.'))
    wakes = 0
    await until('it is woken again', woken)
  })
})
