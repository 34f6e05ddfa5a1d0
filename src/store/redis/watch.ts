import { memberOf } from '../../lib/members.js'
import type { Logger } from '../../settings.js'
import type { RedisServer } from './connect.js'
import { reasonOf } from './reason.js'

/** Remembers the last fault, and logs outages and failovers. */
export interface Watch {
  reason(): string | null
  /** Logs from now on: outages, their end, and failovers. */
  begin(): void
  stop(): void
}

export function watchServer({ commands: client, place: server }: RedisServer, logger: Logger): Watch {
  let reason: string | null = null
  let begun = false
  let failing = false
  let address = addressOf(client)

  function warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (begun) logger.warn({ event: 'redis', server, error: null, ...fields }, message)
  }

  const listeners = {
    error(error: unknown) {
      reason = reasonOf(error)
      if (!begun || failing) return
      failing = true
      const fields = { event: 'redis', server, error: reason }
      logger.error(
        fields,
        'Redis cannot be reached, so counted requests get 503. Check that the server runs; the connection comes back by itself.',
      )
    },
    ready() {
      const former = address
      address = addressOf(client) ?? former
      if (former !== null && address !== former) warn('Redis failed over to another server.', { address, former })
      else if (failing) warn('Redis can be reached again.')
      failing = false
    },
    // What the client learned about the nodes of a cluster.
    '+node': (node: unknown) => warn('A node joined the Redis cluster.', { address: addressOf(node) }),
    '-node': (node: unknown) => warn('A node left the Redis cluster.', { address: addressOf(node) }),
  }
  for (const [event, listener] of Object.entries(listeners)) client.on(event, listener)
  return {
    reason: () => reason,
    begin() {
      address = addressOf(client)
      begun = true
    },
    stop() {
      for (const [event, listener] of Object.entries(listeners)) client.off(event, listener)
    },
  }
}

/** The address that a connection really has; its URL may name several servers in turn. Null for a cluster. */
function addressOf(client: unknown): string | null {
  const socket = memberOf(client, 'stream')
  const [host, port] = [memberOf(socket, 'remoteAddress'), memberOf(socket, 'remotePort')]
  return typeof host === 'string' ? `${host}:${port}` : null
}
