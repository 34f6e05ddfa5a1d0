import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openNotifyWake } from '../../src/store/sql/engine/notify.js'
import { parseServerUrl } from '../../src/store/sql/engine/server-address.js'
import type { Wake } from '../../src/store/wake.js'
import { randomId } from '../support/databases.js'
import { keptLines, lookInto, openTestRedis, realTimer, redisUrl, startRedis, until } from '../support/redis-server.js'
import { createDatabase, serverUrls, type TestDatabase } from '../support/servers.js'
import { startTcpProxy } from '../support/tcp-proxy.js'

/** Long waits of a day in a moment: heartbeats and pauses before another attempt. */
const hasty = (milliseconds: number, callback: () => void) => realTimer(Math.min(milliseconds, 50), callback)

function heardOf({ wake }: { wake: Wake }): Pick<Opened, 'wake' | 'heard'> {
  let count = 0
  wake.listen(() => {
    count += 1
  })
  return { wake, heard: () => count }
}

/** All are connected, and nothing but what is told wakes them any more. */
async function calm(...all: Pick<Opened, 'heard'>[]): Promise<void> {
  for (const { heard } of all) await until('it listens', () => heard() === 2)
}

interface Opened {
  wake: Wake
  /** How often it was woken: once by listening itself, once when the connection stood. */
  heard(): number
  lines: ReturnType<typeof keptLines>['lines']
}

interface Line {
  open(options?: { installationId?: string; timer?: typeof realTimer; port?: number }): Promise<Opened>
  /** Ends every listening connection of this installation on the server's side; how many there were. */
  cut(): Promise<number>
  port: number
}

function wakeContract(name: string, line: () => Line): void {
  describe(name, () => {
    test('what one process tells wakes every other at once, and not itself', async () => {
      const [one, two, three] = await Promise.all([line().open(), line().open(), line().open()])
      await calm(one, two, three)
      one.wake.notify()
      await until('the others are woken', () => two.heard() > 2 && three.heard() > 2)
      await sleep(50)
      expect([one.heard(), two.heard(), three.heard()]).toEqual([2, 3, 3])
    })

    test('a thousand changes at once are a few messages, and the last is not lost', async () => {
      const [one, two] = await Promise.all([line().open(), line().open()])
      await calm(one, two)
      for (let changes = 0; changes < 1_000; changes += 1) one.wake.notify()
      await until('two messages', () => two.heard() === 4)
      await sleep(50)
      expect(two.heard()).toBe(4)
    })

    test('another installation on the same server is not woken', async () => {
      const [one, stranger] = await Promise.all([line().open(), line().open({ installationId: `other-${randomId()}` })])
      await calm(one, stranger)
      one.wake.notify()
      await sleep(100)
      expect(stranger.heard()).toBe(2)
    })

    test('connections that the server ends are made again, and each new one wakes for what was missed', async () => {
      const [one, two] = await Promise.all([line().open({ timer: hasty }), line().open({ timer: hasty })])
      await calm(one, two)
      expect(await line().cut()).toBeGreaterThanOrEqual(2)
      await until('it listens again', () => two.heard() >= 3)
      const before = two.heard()
      await until('it is woken', () => {
        one.wake.notify()
        return two.heard() > before
      })
    })

    test('a connection through which nothing comes any more is noticed and made again', async () => {
      const proxy = await startTcpProxy(line().port)
      const [near, far] = [await line().open({ timer: hasty }), await line().open({ timer: hasty, port: proxy.port })]
      await calm(near, far)
      const before = proxy.connections()
      proxy.block()
      near.wake.notify()
      await until('it tries anew', () => proxy.connections() > before + 1, 20_000)
      expect(far.heard()).toBe(2)
      proxy.unblock()
      await until('it listens again', () => far.heard() >= 3, 20_000)
      const heard = far.heard()
      near.wake.notify()
      await until('it is woken', () => far.heard() > heard)
    })

    test('telling and closing never throw and never wait, whatever the state', async () => {
      const { wake } = await line().open()
      wake.notify()
      await wake.close()
      wake.notify()
      await wake.close()
    })
  })
}

let installationId = ''

describe('PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase('postgres')
    installationId = randomId()
  })
  afterAll(() => database.close())

  const server = new URL(serverUrls.postgres)
  const listening = () =>
    database.query(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'latchkey wake-ups'`,
    )

  async function open(
    options: { installationId?: string; timer?: typeof realTimer; port?: number; url?: string } = {},
  ): Promise<Opened> {
    const { lines, logger } = keptLines()
    const url = new URL(options.url ?? database.url)
    if (options.port !== undefined) url.port = String(options.port)
    const wake = await openNotifyWake({
      installationId,
      self: randomId(),
      random: () => 0.5,
      timer: realTimer,
      ...options,
      address: parseServerUrl('postgres', url.href),
      logger,
    })
    onTestFinished(() => wake.close())
    return { ...heardOf({ wake }), lines }
  }

  wakeContract('LISTEN and NOTIFY', () => ({
    open,
    async cut() {
      const rows = await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'latchkey wake-ups'`,
      )
      return rows.length
    },
    port: Number(server.port || 5432),
  }))

  test('closing leaves no connection behind', async () => {
    const { wake, heard } = await open()
    await until('it listens', () => heard() === 2)
    expect(await listening()).toHaveLength(1)
    await wake.close()
    await until('it is gone', async () => (await listening()).length === 0)
  })

  test('a server that refuses is told of once, by its code alone, and costs nothing else', async () => {
    const refused = { timer: hasty, url: `${serverUrls.postgres}/no_such_database_of_latchkey` }
    const { wake, lines, heard } = await open(refused)
    await until('it says so', () => lines.length > 0)
    await sleep(1_000)
    wake.notify()
    expect(heard()).toBe(1)
    expect(lines).toEqual([
      {
        level: 'warn',
        fields: { event: 'wake_ups', error: '3D000' },
        message: expect.stringContaining('half a second'),
      },
    ])
  })
})

describe('Redis', () => {
  beforeAll(() => {
    installationId = `test-${randomId()}`
  })

  wakeContract('PUBLISH and SUBSCRIBE', () => ({
    async open(options = {}) {
      const { lines, logger } = keptLines()
      const url = options.port === undefined ? redisUrl : `redis://127.0.0.1:${options.port}`
      return { ...heardOf(await openTestRedis({ installationId, ...options, redis: url, logger })), lines }
    },
    async cut() {
      const redis = lookInto()
      const list = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
      const ids = [...list.matchAll(/\bid=(\d+) .*? sub=1 /g)].map(([, id]) => id ?? '')
      for (const id of ids) await redis.call('CLIENT', 'KILL', 'ID', id)
      return ids.length
    },
    port: Number(new URL(redisUrl).port || 6379),
  }))

  test('a server that was killed and started again wakes its listeners, and passes wake-ups on', async () => {
    const server = await startRedis()
    const options = { redis: server.url, installationId: 'again' }
    const [one, two] = [heardOf(await openTestRedis(options)), heardOf(await openTestRedis(options))]
    await calm(one, two)
    await server.kill()
    one.wake.notify()
    await sleep(500)
    await server.start()
    await until('it listens again', () => two.heard() >= 3)
    const before = two.heard()
    await until('it is woken', () => {
      one.wake.notify()
      return two.heard() > before
    })
  })
})
