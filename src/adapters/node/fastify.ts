import type { IncomingMessage } from 'node:http'
import { type Pass, untouched } from '../../http/verdict.js'
import type { Adapter } from '../adapter.js'
import { fault, requireRoot, standFirst } from './fastify-first.js'
import { fastifyRoutes } from './fastify-routes.js'
import { type FastifyGate, type FastifyReply, type FastifyRequest, isFastify } from './fastify-shape.js'
import { dropApiKey } from './headers.js'
import { createGate, createListener } from './listener.js'
import type { NodeRequest } from './message.js'
import { guardUpgrades } from './upgrade.js'

/**
 * Fastify 5. The hook is the first of the root instance, so it covers every route, registered before or after. Plugins that
 * were awaited before `init` have their hooks already, so then `init` throws. Handlers read `request.auth`.
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
        // @fastify/websocket sends upgrades through the routes, so they come here a second time.
        if (upgraded.has(request.raw)) continueWith(request, reply, done)(untouched)
        else layer(request.raw, reply.raw, continueWith(request, reply, done))
      })
    } catch {
      throw fault('has started already; init must come before')
    }
    guardUpgrades(app.server, handle, watch, upgraded)
  },
  routes: fastifyRoutes,
  gate(ask) {
    const layer = createGate(ask)
    return (request, reply, done) => layer(request.raw, reply.raw, continueWith(request, reply, done))
  },
}

/** A request that has been answered is not passed on; Fastify then does nothing more with it. */
function continueWith(request: FastifyRequest, reply: FastifyReply, done: () => void): (pass: Pass) => void {
  const raw: NodeRequest = request.raw
  const { url } = raw
  return ({ responseHeaders }) => {
    request.auth = raw.auth ?? null
    // Hooks and plugins read headers from the reply. Some add a `cache-control` of their own when it has none.
    if (responseHeaders !== null)
      for (const name in responseHeaders) if (name !== 'vary') reply.header(name, responseHeaders[name] ?? '')
    // Fastify has parsed the query by now, with the API token that was removed from the URL.
    if (raw.url !== url) dropApiKey(request.query)
    done()
  }
}
