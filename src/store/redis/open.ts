import type { Redis } from 'ioredis'
import type { Logger } from '../../settings.js'
import type { Counters } from '../counters.js'
import type { Wake } from '../wake.js'
import { ask, type RedisServer, redisServer } from './connect.js'
import { type Ask, createRedisCounters } from './counters.js'
import { isRefusal, reasonOf } from './reason.js'
import { createRedisWake } from './wake.js'

export interface RedisStoreOptions {
  url: string
  /** Stands in every key and channel, so that several installations may share one server. */
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

/** A server that is just starting, or a network that is just coming up, gets a few seconds. */
const openingTries = 5
const openingPauseMs = 200

/**
 * Connects, and counts once: a server that cannot count is found out now and not at the first sign-in.
 *
 * @throws {Error} that names host and port and says what is wrong, never user or password
 * @example const { counters, wake, close } = await openRedis({ url: 'redis://127.0.0.1:6379', installationId, … })
 */
export async function openRedis(options: RedisStoreOptions): Promise<RedisStore> {
  const { installationId, self, timer, logger } = options
  const server = await redisServer(options)
  const commands = server.connect()
  const watch = createWatch(commands, server, logger)
  // No braces around the id: they would put all keys of an installation on one node of a cluster.
  const prefix = `latchkey:${installationId}`
  const countersBy = (by: Ask) => createRedisCounters(by, `${prefix}:counter:`)
  try {
    await countOnce(
      countersBy((command) => command(commands)),
      options,
    )
  } catch (error) {
    commands.disconnect()
    throw new Error(`redis: ${server.place} cannot be used: ${watch.reason() ?? reasonOf(error)}.`)
  }
  watch.begin()
  const subscriber = server.connect()
  subscriber.on('error', () => {}) // The same server as that of the commands, whose faults are told.
  const wake = createRedisWake({ commands, subscriber, channel: `${prefix}:wake`, self, timer })
  return {
    counters: countersBy((command) => ask(commands, command)),
    wake,
    ping: () => ask(commands, (client) => client.ping()),
    async close() {
      await wake.close()
      commands.disconnect()
    },
  }
}

/** A hit on a counter of its own, and its end: all that counting needs of the server. */
async function countOnce(counters: Counters, { self, sleep }: RedisStoreOptions): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await counters.hit(self, { limit: 1, windowSeconds: 1 }, 0)
      return await counters.forget([self])
    } catch (error) {
      if (tries === openingTries || isRefusal(error)) throw error
    }
    await sleep(openingPauseMs)
  }
}

/** Remembers what was wrong last; once begun, says once that the server is gone and once that it is back. */
function createWatch(client: Redis, { place }: RedisServer, logger: Logger) {
  let reason: string | null = null
  let begun = false
  let failing = false
  client.on('error', (error) => {
    reason = reasonOf(error)
    if (!begun || failing) return
    failing = true
    const fields = { event: 'redis', server: place, error: reason }
    logger.error(fields, 'Redis cannot be reached; requests that are counted get 503.')
  })
  client.on('ready', () => {
    if (failing) logger.warn({ event: 'redis', server: place, error: null }, 'Redis can be reached again.')
    failing = false
  })
  return {
    reason: () => reason,
    begin() {
      begun = true
    },
  }
}
