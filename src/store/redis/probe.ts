import type { RedisClient } from '../../settings.js'
import { serverOfUrl } from './connect.js'
import { serverOfClient } from './given-client.js'
import { reasonOf } from './reason.js'

export interface RedisProbe {
  /** Host and port, without a secret. */
  place: string
  /** Why it cannot be used; null when it answers. */
  fault: string | null
  /** `noeviction`, `allkeys-lru`, …; null when the server does not show it. */
  policy: string | null
}

/**
 * Connects, asks for an answer and for the eviction policy, and changes nothing. The policy comes from INFO, because hosted
 * servers refuse CONFIG.
 */
export async function probeRedis(redis: string | RedisClient, random: () => number): Promise<RedisProbe> {
  const server = typeof redis === 'string' ? await serverOfUrl(redis, random) : serverOfClient(redis)
  const { place, commands, send } = server
  let connectionError: unknown = null
  const onError = (error: unknown) => {
    connectionError = error
  }
  commands.on('error', onError)
  try {
    await send((client) => client.ping())
    const memory = await send((client) => client.info('memory')).catch(() => '')
    const [, policy = null] = /^maxmemory_policy:(\S+)/m.exec(String(memory)) ?? []
    return { place, fault: null, policy }
  } catch (error) {
    return { place, fault: reasonOf(connectionError ?? error), policy: null }
  } finally {
    server.close()
    // A closed connection of ours may still report an error.
    if (commands === redis) commands.off('error', onError)
  }
}
