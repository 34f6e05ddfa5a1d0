import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import type { Redis } from 'ioredis'
import { storeUnavailable } from '../../errors.js'
import { requirePackage } from '../../lib/optional-package.js'
import type { RedisClient } from '../../settings.js'
import { reasonOf } from './reason.js'

const require = createRequire(import.meta.url ?? __filename)

/** A Redis server and how to reach it. */
export interface RedisServer {
  /** Host and port, or the name of the given client. It appears in messages, so it holds no secret. */
  place: string
  /** The connection of counters and wake-ups. */
  commands: RedisClient
  /** A further connection, since a subscribed connection takes no other command. */
  openSubscriber(): RedisClient
  /** Runs a command; rejects within a second when there is no answer. */
  send: Send
  /** Closes what was opened here. A client of the application stays open. */
  close(): void
}

export type Send = <T>(command: (client: RedisClient) => Promise<T>) => Promise<T>

/** How long a command may take, including the wait for a lost connection. After that, the request gets 503. */
export const commandMs = 1_000
/** A connection on which a command waits that long for any reply counts as dead, even if the operating system keeps it. */
const deadMs = 2_000
const connectMs = 2_000
const firstRetryMs = 50
const longestRetryMs = 1_000
const keepAliveMs = 10_000

/**
 * Connections to the server of a `redis:` or `rediss:` URL. They reconnect by themselves after an outage of any length.
 * ioredis is loaded here and not before, so that importing latchkey stays fast.
 *
 * @param random 0 ≤ n < 1, to spread attempts
 */
export async function serverOfUrl(url: string, random: () => number): Promise<RedisServer> {
  const { Redis } = requireRedis()
  const { host, hostname, protocol } = new URL(url)
  const name = hostname.replace(/^\[|\]$/g, '')
  const options = {
    ...connectionOptions(random),
    // Node sends no server name by itself, and many hosted Redis servers share one address.
    ...(protocol === 'rediss:' && { tls: isIP(name) ? {} : { servername: name } }),
  }
  const commands = new Redis(url, options)
  return {
    place: host,
    commands,
    openSubscriber: () => new Redis(url, options),
    send: (command) => command(commands),
    close: () => commands.disconnect(),
  }
}

function connectionOptions(random: () => number) {
  return {
    lazyConnect: true,
    // Versions 5 and 6 of ioredis and all servers speak this protocol.
    protocol: 2 as const,
    connectTimeout: connectMs,
    commandTimeout: commandMs,
    socketTimeout: deadMs,
    keepAlive: keepAliveMs,
    // A command survives one lost connection and one failed attempt to reconnect; `commandTimeout` bounds both.
    maxRetriesPerRequest: 1,
    autoResubscribe: false,
    disableClientInfo: true,
    retryStrategy: (attempt: number) =>
      Math.min(firstRetryMs * 2 ** (attempt - 1), longestRetryMs) * (0.5 + random() / 2),
    // The server has become a replica. Its name may lead to the new primary by now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  }
}

function requireRedis(): { Redis: typeof Redis } {
  try {
    return requirePackage('ioredis', () => require('ioredis'))
  } catch (cause) {
    throw new Error('redis: needs a package that cannot be loaded here: npm install ioredis', { cause })
  }
}

/** Runs a command. A failure becomes `store_unavailable`, and nothing of what was sent reaches the error. */
export async function ask<T>({ send }: RedisServer, command: (client: RedisClient) => Promise<T>): Promise<T> {
  try {
    return await send(command)
  } catch (error) {
    throw storeUnavailable(new Error(`redis: ${reasonOf(error)}`))
  }
}
