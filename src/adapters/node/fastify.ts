import type { IncomingMessage } from 'node:http'
import { type Pass, untouched } from '../../http/verdict.js'
import type { Adapter } from '../adapter.js'
import { createGate, createListener } from './answer.js'
import { fault, requireRoot, standFirst } from './fastify-first.js'
import { type FastifyGate, type FastifyReply, type FastifyRequest, isFastify } from './fastify-shape.js'
import { dropApiKey } from './headers.js'
import type { NodeRequest } from './message.js'
import { guardUpgrades } from './upgrade.js'

/**
 * Fastify 5: the first hook of the root instance, which every route has that is registered in it or below, before or after.
 * What plugins hold that were awaited before `init` has its hooks already, so then `init` throws. Handlers read
 * `request.auth`.
 */
export const fastify: Adapter<FastifyGate> = {
  name: 'Fastify 5',
  recognises: isFastify,
  mount(app, handle, { watch }) {
    if (!isFastify(app)) throw new TypeError('not a Fastify application')
    requireRoot(app)
    const layer = createListener(handle)
    const upgraded = new WeakSet<IncomingMessage>()
    try {
      if (!app.hasRequestDecorator('auth')) app.decorateRequest('auth', null)
      standFirst(app, (request, reply, done) => {
        // @fastify/websocket sends upgrades through the routes, and so here again.
        if (upgraded.has(request.raw)) continueWith(request, reply, done)(untouched)
        else layer(request.raw, reply.raw, continueWith(request, reply, done))
      })
    } catch {
      throw fault('has started already; init must come before')
    }
    guardUpgrades(app.server, handle, watch, upgraded)
  },
  gate(ask) {
    const layer = createGate(ask)
    return (request, reply, done) => layer(request.raw, reply.raw, continueWith(request, reply, done))
  },
}

/** What has been answered is not handed on: Fastify then does nothing more with it. */
function continueWith(request: FastifyRequest, reply: FastifyReply, done: () => void): (pass: Pass) => void {
  const raw: NodeRequest = request.raw
  const { url } = raw
  return ({ responseHeaders }) => {
    request.auth = raw.auth ?? null
    // Hooks and plugins ask the reply what was said already: some give an answer without `cache-control` one of their own.
    if (responseHeaders !== null)
      for (const name in responseHeaders) if (name !== 'vary') reply.header(name, responseHeaders[name] ?? '')
    // Fastify has read the query by now, also what was taken out of it.
    if (raw.url !== url) dropApiKey(request.query)
    done()
  }
}
