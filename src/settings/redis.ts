import { hasMethods } from '../lib/members.js'
import { either, foreign, text } from './field.js'

/**
 * The part of an ioredis client that Latchkey uses; `Redis` and `Cluster` both have it. The application makes the client,
 * for example for Sentinel or Cluster, and closes it.
 */
export interface RedisClient {
  readonly status: string
  evalsha(sha: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  del(key: string): Promise<unknown>
  publish(channel: string, message: string): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  ping(): Promise<unknown>
  info(section: string): Promise<unknown>
  connect(): Promise<unknown>
  disconnect(): void
  duplicate(): RedisClient
  on(event: string, listener: (...values: unknown[]) => void): unknown
  off(event: string, listener: (...values: unknown[]) => void): unknown
}

const sentence = 'must be a redis: or rediss: URL, with user and password percent-encoded, or an ioredis client'

const redisUrl = text(sentence, (value) =>
  /^rediss?:\/\/[^/\s]/.test(value) && URL.canParse(value) && isPercentEncoded(new URL(value)) ? value : null,
)
const redisClient = foreign<RedisClient>(sentence, (value) =>
  hasMethods(value, ['evalsha', 'publish', 'subscribe', 'duplicate', 'on', 'off']),
)

export const redis = either<string | RedisClient, string | RedisClient>((value) =>
  typeof value === 'string' ? redisUrl : redisClient,
)

function isPercentEncoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(`${username}:${password}`)
    return true
  } catch {
    return false
  }
}
