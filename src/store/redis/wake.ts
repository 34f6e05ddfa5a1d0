import { coalesced } from '../../lib/coalesce.js'
import type { RedisClient } from '../../settings.js'
import type { Wake } from '../wake.js'
import type { Send } from './connect.js'

export interface RedisWakeOptions {
  /** Sends a command within a second, on the connection that counters use too. */
  send: Send
  /** A connection of its own: a subscribed connection takes no other command. */
  subscriber: RedisClient
  channel: string
  /** Distinguishes this process's own wake-ups from those of other processes. */
  self: string
  timer: (milliseconds: number, callback: () => void) => () => void
}

/** How often the subscription is checked: an idle connection does not show by itself that it is lost. */
const heartbeatMs = 10_000

/** Wake-ups by PUBLISH and SUBSCRIBE. The message is only an id that was drawn for this process. */
export function createRedisWake({ send, subscriber, channel, self, timer }: RedisWakeOptions): Wake {
  let wake = () => {}
  let state: 'away' | 'asked' | 'subscribed' = 'away'
  let stopTimer = () => {}

  async function subscribe(): Promise<void> {
    state = 'asked'
    try {
      await subscriber.subscribe(channel)
      state = 'subscribed'
      wake() // messages that were published meanwhile
    } catch {
      state = 'away'
    }
  }

  /** A check without a reply ends the connection if the client has a `socketTimeout`, as ours has; it then opens another. */
  function beat(): void {
    if (state === 'subscribed') subscriber.ping().catch(() => {})
    if (state === 'away' && subscriber.status === 'ready') void subscribe()
    stopTimer = timer(heartbeatMs, beat)
  }

  subscriber.on('ready', subscribe)
  subscriber.on('close', () => {
    state = 'away'
  })
  subscriber.on('message', (_channel, from) => {
    if (from !== self) wake()
  })
  stopTimer = timer(heartbeatMs, beat)
  subscriber.connect().catch(() => {}) // It may be connecting already, and reconnects by itself.

  return {
    notify: coalesced(() => send((client) => client.publish(channel, self))),
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
