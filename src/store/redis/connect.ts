import { isIP } from 'node:net'
import type { Redis } from 'ioredis'
import { AuthError } from '../../errors.js'
import { reasonOf } from './reason.js'

export interface RedisServerOptions {
  /** `redis:` or `rediss:` URL, with user, password and number of the database as far as they are needed. */
  url: string
  /** 0 ≤ n < 1, to spread attempts. */
  random(): number
}

/** One server, of which connections are opened. */
export interface RedisServer {
  /** Host and port, for messages: nothing secret. */
  place: string
  /** Opens with the first command and comes back by itself, however long the server was away, until it is disconnected. */
  connect(): Redis
}

/**
 * How long a command may take, the wait for a lost connection included. Shorter than anybody waits for a page; a request
 * that cannot be counted in that time is 503.
 */
const commandMs = 1_000
/** A connection on which a command waits that long for any answer is dead, whatever the operating system says. */
const deadMs = 2_000
const connectMs = 2_000
const firstRetryMs = 50
const longestRetryMs = 1_000
const keepAliveMs = 10_000

/** Loads ioredis, and not before: importing latchkey stays fast. */
export async function redisServer({ url, random }: RedisServerOptions): Promise<RedisServer> {
  const { Redis } = await import('ioredis').catch((cause: unknown) => {
    throw new Error('redis: needs a package that cannot be loaded here: npm install ioredis', { cause })
  })
  const { host, hostname, protocol } = new URL(url)
  const name = hostname.replace(/^\[|\]$/g, '')
  const options = {
    lazyConnect: true,
    // What versions 5 and 6 of ioredis and all servers speak.
    protocol: 2 as const,
    connectTimeout: connectMs,
    commandTimeout: commandMs,
    socketTimeout: deadMs,
    keepAlive: keepAliveMs,
    // A command outlives one lost connection and one failed attempt to get another; `commandTimeout` bounds both.
    maxRetriesPerRequest: 1,
    autoResubscribe: false,
    disableClientInfo: true,
    retryStrategy: (attempt: number) =>
      Math.min(firstRetryMs * 2 ** (attempt - 1), longestRetryMs) * (0.5 + random() / 2),
    // The server has become a replica: its name may lead to the new primary by now.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // Node sends no server name by itself, and many hosts of Redis stand behind one address.
    ...(protocol === 'rediss:' && { tls: isIP(name) ? {} : { servername: name } }),
  }
  return { place: host, connect: () => new Redis(url, options) }
}

/** Runs a command; what fails becomes `store_unavailable`, and nothing of what was sent reaches the error. */
export async function ask<T>(client: Redis, command: (client: Redis) => Promise<T>): Promise<T> {
  try {
    return await command(client)
  } catch (error) {
    throw new AuthError('store_unavailable', { cause: new Error(`redis: ${reasonOf(error)}`), retryAfterSeconds: 1 })
  }
}
