import type { IncomingMessage } from 'node:http'
import { SettingsError } from '../errors.js'
import { type Pass, untouched } from '../http/verdict.js'
import type { Adapter } from './adapter.js'
import type { FastifyApp, FastifyGate, FastifyReply, FastifyRequest } from './fastify-shape.js'
import { addLateVarying } from './late-vary.js'
import { createGate, createListener, dropApiKey, type NodeRequest } from './node-message.js'
import { guardUpgrades } from './upgrade.js'

/**
 * Fastify 5: a hook of the root instance, which every route has that is registered in it or below, before or after. What
 * plugins hold that were awaited before `init` has its hooks already, so then `init` throws. Handlers read `request.auth`.
 */
export const fastify: Adapter<FastifyGate> = {
  name: 'Fastify 5',
  recognises: isFastify,
  mount(app, handle, { watch }) {
    if (!isFastify(app)) throw new TypeError('not a Fastify application')
    requireRoot(app)
    const layer = createListener(handle, undefined, addLateVarying)
    const upgraded = new WeakSet<IncomingMessage>()
    try {
      if (!app.hasRequestDecorator('auth')) app.decorateRequest('auth', null)
      app.addHook('onRequest', (request, reply, done) => {
        // @fastify/websocket sends upgrades through the routes, and so here again.
        if (upgraded.has(request.raw)) tell(request, reply, done)(untouched)
        else layer(request.raw, reply.raw, tell(request, reply, done))
      })
    } catch {
      throw fault('has started already; init must come before')
    }
    guardUpgrades(app.server, handle, watch, upgraded)
  },
  gate(ask) {
    const layer = createGate(ask, addLateVarying)
    return (request, reply, done) => layer(request.raw, reply.raw, tell(request, reply, done))
  },
}

/** What has been answered is not handed on: Fastify then does nothing more with it. */
function tell(request: FastifyRequest, reply: FastifyReply, done: () => void): (pass: Pass) => void {
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

function isFastify(app: unknown): app is FastifyApp {
  if (typeof app !== 'object' || app === null) return false
  return ['addHook', 'decorateRequest', 'hasPlugin', 'inject'].every(
    (name) => typeof Reflect.get(app, name) === 'function',
  )
}

function requireRoot(app: FastifyApp): void {
  if (isFastify(Object.getPrototypeOf(app))) throw fault('is a plugin of a Fastify application; init takes the root')
  const key = Object.getOwnPropertySymbols(app).find(({ description }) => description === 'fastify.children')
  const children: unknown = key && Reflect.get(app, key)
  if (!Array.isArray(children)) throw fault('this version of Fastify keeps its plugins where nobody knows')
  if (children.length > 0) throw fault('plugins were awaited already: move init above the first await app.register(…)')
}

function fault(message: string): SettingsError {
  return new SettingsError([{ setting: 'app', message }])
}
