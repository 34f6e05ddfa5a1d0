import type { Redis } from 'ioredis'
import { coalesced } from '../../lib/coalesce.js'
import type { Wake } from '../wake.js'

export interface RedisWakeOptions {
  /** The connection that counters use too. */
  commands: Redis
  /** A connection of its own: one that is subscribed takes no other command. */
  subscriber: Redis
  channel: string
  /** Tells this process's own wake-ups from those of others. */
  self: string
  timer: (milliseconds: number, callback: () => void) => () => void
}

/** How often the subscription is asked whether it lives: what nobody sends on shows no loss by itself. */
const heartbeatMs = 10_000

/** Wake-ups by PUBLISH and SUBSCRIBE. The message is an id that was drawn for this process, nothing else. */
export function createRedisWake({ commands, subscriber, channel, self, timer }: RedisWakeOptions): Wake {
  let wake = () => {}
  let state: 'away' | 'asked' | 'subscribed' = 'away'
  let stopTimer = () => {}

  async function subscribe(): Promise<void> {
    state = 'asked'
    try {
      await subscriber.subscribe(channel)
      state = 'subscribed'
      wake() // what was told meanwhile
    } catch {
      state = 'away'
    }
  }

  /** What stays without an answer ends the connection (`socketTimeout`), and then there is another. */
  function beat(): void {
    if (state === 'subscribed') subscriber.ping().catch(() => {})
    if (state === 'away' && subscriber.status === 'ready') void subscribe()
    stopTimer = timer(heartbeatMs, beat)
  }

  subscriber.on('ready', subscribe)
  subscriber.on('close', () => {
    state = 'away'
  })
  subscriber.on('message', (_channel: string, from: string) => {
    if (from !== self) wake()
  })
  stopTimer = timer(heartbeatMs, beat)
  subscriber.connect().catch(() => {}) // comes back by itself

  return {
    notify: coalesced(() => commands.publish(channel, self)),
    listen(listener) {
      wake = listener
      wake()
    },
    async close() {
      stopTimer()
      subscriber.disconnect()
    },
  }
}
