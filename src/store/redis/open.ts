import type { Logger, RedisClient } from '../../settings.js'
import type { Counters } from '../counters.js'
import type { Wake } from '../wake.js'
import { ask, type RedisServer, serverOfUrl } from './connect.js'
import { type Ask, createRedisCounters } from './counters.js'
import { serverOfClient } from './given-client.js'
import { isRefusal, isUnknownCommand, reasonOf, sentinelReason } from './reason.js'
import { createRedisWake } from './wake.js'
import { watchServer } from './watch.js'

export interface RedisStoreOptions {
  /** `redis:` or `rediss:` URL, or the application's client. */
  redis: string | RedisClient
  /** Part of every key and channel, so that several installations may share one server. */
  installationId: string
  /** Drawn for this process. */
  self: string
  random(): number
  sleep(milliseconds: number): Promise<void>
  timer: (milliseconds: number, callback: () => void) => () => void
  logger: Logger
}

/** What Redis holds for all processes of an installation. */
export interface RedisStore {
  counters: Counters
  wake: Wake
  /** Resolves when the server answers. */
  ping(): Promise<unknown>
  close(): Promise<void>
}

/** A server or a network that is just starting gets a few seconds. */
const openingTries = 5
const openingPauseMs = 200

/**
 * Connects, and counts once, so that a server that cannot count is found now and not at the first sign-in.
 *
 * @throws {Error} that names host and port and says what is wrong, never user or password
 * @example const { counters, wake, close } = await openRedis({ redis: 'redis://127.0.0.1:6379', installationId, … })
 */
export async function openRedis(options: RedisStoreOptions): Promise<RedisStore> {
  const { redis, installationId, self, random, timer, logger } = options
  const server = typeof redis === 'string' ? await serverOfUrl(redis, random) : serverOfClient(redis)
  const watch = watchServer(server, logger)
  // No braces around the id: they would put all keys of an installation on one node of a cluster.
  const prefix = `latchkey:${installationId}`
  const countersBy = (by: Ask) => createRedisCounters(by, `${prefix}:counter:`)
  try {
    await countOnce(countersBy(server.send), options)
  } catch (error) {
    const reason = watch.reason() ?? (await reasonAt(server, error))
    server.close()
    watch.stop()
    throw new Error(`redis: ${server.place} cannot be used: ${reason}.`)
  }
  watch.begin()
  const subscriber = server.openSubscriber()
  subscriber.on('error', () => {}) // The watch logs faults of the same server.
  const wake = createRedisWake({ send: server.send, subscriber, channel: `${prefix}:wake`, self, timer })
  return {
    counters: countersBy((command) => ask(server, command)),
    wake,
    ping: () => ask(server, (client) => client.ping()),
    async close() {
      await wake.close()
      server.close()
      watch.stop()
    },
  }
}

/** A server without scripts may be a Sentinel, which only names the primary. */
async function reasonAt({ send }: RedisServer, error: unknown): Promise<string> {
  if (!isUnknownCommand(error)) return reasonOf(error)
  const info = await send((client) => client.info('server')).catch(() => '')
  return /redis_mode:sentinel/.test(String(info)) ? sentinelReason : reasonOf(error)
}

/**
 * Hits and drops some counters of its own, which needs every right that counting needs. There are so many of them that they
 * spread over several nodes of a cluster.
 */
async function countOnce(counters: Counters, { self, sleep }: RedisStoreOptions): Promise<void> {
  const ids = Array.from({ length: 16 }, (_, index) => `${self}-${index}`)
  for (let tries = 1; ; tries += 1) {
    try {
      await Promise.all(ids.map((id) => counters.hit(id, { limit: 1, windowSeconds: 1 }, 0)))
      return await counters.forget(ids)
    } catch (error) {
      if (tries === openingTries || isRefusal(error)) throw error
    }
    await sleep(openingPauseMs)
  }
}
