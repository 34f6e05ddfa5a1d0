import { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as SecureServer } from 'node:https'
import type { Adapter, Emit } from './adapter.js'
import { createListener, nodeGate } from './node-message.js'
import { guardUpgrades } from './upgrade.js'

/** The events by which node's server hands a request on. */
const requestEvents: ReadonlySet<string> = new Set(['request', 'checkContinue', 'checkExpectation'])

/**
 * A server of `node:http` or `node:https`. The layer stands where the server tells of a request, so whoever listens, from
 * whenever on, hears only of what may pass. Handlers read `req.auth`.
 */
export const node: Adapter = {
  name: 'node:http',
  recognises: isServer,
  mount(server, handle, { watch }) {
    if (!isServer(server)) throw new TypeError('not a server of node:http')
    const layer = createListener(handle)
    const emit: Emit = server.emit
    guardUpgrades(server, handle, watch)
    const emitOther: Emit = server.emit
    server.emit = (event: string, ...given: unknown[]): boolean => {
      const [req, res] = given
      const isRequest = requestEvents.has(event) && req instanceof IncomingMessage && res instanceof ServerResponse
      if (!isRequest) return emitOther.call(server, event, ...given)
      layer(req, res, () => {
        if (!emit.call(server, event, req, res)) nobodyListens(res)
      })
      return true
    }
  },
  gate: nodeGate,
}

function isServer(app: unknown): app is Server {
  return app instanceof Server || app instanceof SecureServer
}

/** A server for our own routes alone: node would leave everybody else waiting. */
function nobodyListens(res: ServerResponse): void {
  res.statusCode = 404
  res.end()
}
