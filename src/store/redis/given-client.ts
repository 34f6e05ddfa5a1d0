import type { RedisClient } from '../../settings.js'
import { commandMs, type RedisServer, type Send } from './connect.js'

/**
 * The application's ioredis client: `Redis`, also with Sentinel, or `Cluster`. Its options belong to the application, so the
 * time limit of a second is enforced here. The client is not closed here; only its duplicate, the subscriber, is.
 */
export function serverOfClient(client: RedisClient): RedisServer {
  const { send, stop } = createBoundedSend(client)
  // `lazyConnect` leaves this status.
  if (client.status === 'wait') client.connect().catch(() => {})
  return {
    place: 'the given client',
    commands: client,
    openSubscriber: () => client.duplicate(),
    send,
    close: stop,
  }
}

/**
 * Waits for a connection here, not in the queue of ioredis. Under `maxRetriesPerRequest: null` that queue has no time limit,
 * and all hits that piled up during an outage would be counted after it.
 */
function createBoundedSend(client: RedisClient): { send: Send; stop(): void } {
  const waiting = new Set<() => void>()
  const sendWaiting = () => {
    for (const start of waiting) start()
  }
  client.on('ready', sendWaiting)

  function send<T>(command: (client: RedisClient) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (client.status === 'end') return reject(new Error('Connection is closed.'))
      // Real time, also under a test clock, because the server is a real one.
      const limit = AbortSignal.timeout(commandMs)
      const start = async () => {
        waiting.delete(start)
        try {
          resolve(await command(client))
        } catch (error) {
          reject(error)
        } finally {
          limit.onabort = null
        }
      }
      limit.onabort = () => {
        waiting.delete(start)
        reject(new Error('Command timed out'))
      }
      if (client.status === 'ready') void start()
      else waiting.add(start)
    })
  }

  return { send, stop: () => void client.off('ready', sendWaiting) }
}
