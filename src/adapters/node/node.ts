import { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as SecureServer } from 'node:https'
import type { Adapter, Emit } from '../adapter.js'
import { connect, createReading } from './connect.js'
import { createListener, nodeGate } from './listener.js'
import { guardUpgrades } from './upgrade.js'

/**
 * A server of `node:http` or `node:https`. The layer stands where the server emits its request events, so every listener,
 * early or late, gets only requests that may pass. Handlers read `req.auth`.
 */
export const node: Adapter = {
  name: 'node:http',
  recognises: isServer,
  mount(server, handle, mounting) {
    if (!isServer(server)) throw new TypeError('not a server of node:http')
    const asRouted = createReading(mounting)
    const layer = createListener((request) => {
      const read = asRouted(request)
      return handle(read !== request && server.listeners('request').some(connect.recognises) ? read : request)
    })
    const emit: Emit = server.emit
    guardUpgrades(server, handle, mounting.watch)
    const emitOther: Emit = server.emit
    server.emit = (event: string, ...given: unknown[]): boolean => {
      if (!handsRequestOn(event)) return emitOther.call(server, event, ...given)
      // By index, because destructuring walks over the list for each request.
      const req = given[0]
      const res = given[1]
      // A request that cannot be judged reaches no listener.
      if (!isRequest(req) || !isResponse(res)) return false
      layer(req, res, () => {
        if (!emit.call(server, event, req, res)) answerNotFound(res)
      })
      return true
    }
  },
  gate: nodeGate,
}

/** The events by which node's server passes a request to the application. */
function handsRequestOn(event: string): boolean {
  return event === 'request' || event === 'checkContinue' || event === 'checkExpectation'
}

function isServer(app: unknown): app is Server {
  return app instanceof Server || app instanceof SecureServer
}

/** Also one that was made without a socket, for example by light-my-request: a listener would treat it like node's. */
function isRequest(given: unknown): given is IncomingMessage {
  return given instanceof IncomingMessage || (given instanceof Object && 'url' in given && 'headers' in given)
}

function isResponse(given: unknown): given is ServerResponse {
  return given instanceof ServerResponse || (given instanceof Object && 'setHeader' in given && 'end' in given)
}

/** A server with our own routes alone would leave every other request without a response. */
function answerNotFound(res: ServerResponse): void {
  res.statusCode = 404
  res.end()
}
