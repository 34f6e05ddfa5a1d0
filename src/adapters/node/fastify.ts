import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { SettingsError } from '../../errors.js'
import { type Pass, untouched } from '../../http/verdict.js'
import { hasMethods, memberOf } from '../../lib/members.js'
import type { Principal } from '../../model/principal.js'
import type { Adapter } from '../adapter.js'
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

/** @throws {SettingsError} if the application's hooks would not cover everything that it serves */
function requireRoot(app: FastifyApp): void {
  if (isFastify(Object.getPrototypeOf(app))) throw fault('is a plugin of a Fastify application; init takes the root')
  requestHooks(app)
  if (plugins(app).length > 0)
    throw fault('plugins were awaited already: move init above the first await app.register(…)')
}

/**
 * Puts the hook before all others, also before earlier ones: a hook that responds before ours would not be guarded.
 *
 * Fastify's API only appends, so this edits the list in which Fastify keeps its hooks. Each plugin begins with a copy of that
 * list, and no plugin has begun (see `requireRoot`). If the hook is not first in every plugin in the end, the application does
 * not start.
 *
 * Throws when the application has started, because Fastify's queue is closed then.
 */
function standFirst(app: FastifyApp, hook: FastifyGate): void {
  app.after((error, done) => {
    app.addHook('onReady', () => requireFirst(app, hook))
    done(error)
  })
  requestHooks(app).unshift(hook)
}

function requireFirst(app: object, hook: FastifyGate): void {
  if (requestHooks(app)[0] !== hook) throw fault('an onRequest hook stands before the guard')
  for (const plugin of plugins(app)) requireFirst(plugin, hook)
}

/** The hooks in the order in which each request meets them. */
function requestHooks(app: object): unknown[] {
  const hooks = kept(app, 'fastify.hooks')
  const found = memberOf(hooks, 'onRequest')
  if (!Array.isArray(found)) throw fault('this version of Fastify keeps its hooks in an unknown place. Use Fastify 5')
  return found
}

function plugins(app: object): object[] {
  const found = kept(app, 'fastify.children')
  if (!Array.isArray(found)) throw fault('this version of Fastify keeps its plugins in an unknown place. Use Fastify 5')
  return found
}

/** A property of the instance that Fastify keeps under a private symbol. Only the symbol's description is known. */
function kept(app: object, description: string): unknown {
  const key = Object.getOwnPropertySymbols(app).find((symbol) => symbol.description === description)
  return key && memberOf(app, key)
}

function fault(message: string): SettingsError {
  return new SettingsError([{ setting: 'app', message }])
}

/** One line of the tree that Fastify prints: how deep it stands, and its path below the line above. */
const treeLine = /^((?:│ {3}| {4})*)[├└]── (.+?) \([A-Z, -]+\)/u

/** The paths of all routes, from the tree that `printRoutes` prints: Fastify has no other list. */
function fastifyRoutes(app: unknown): string[] | null {
  if (!hasPrintRoutes(app)) return null
  const paths: string[] = []
  const above: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, path] = treeLine.exec(line) ?? []
    if (indent === undefined || path === undefined) continue
    const depth = indent.length / 4
    above.splice(depth)
    above.push(`${above[depth - 1] ?? ''}${path}`)
    paths.push(above[depth] ?? path)
  }
  return paths
}

function hasPrintRoutes(app: unknown): app is { printRoutes(options: { commonPrefix: boolean }): string } {
  return hasMethods(app, ['printRoutes'])
}

/** The part of a Fastify request that we use. */
interface FastifyRequest {
  raw: IncomingMessage
  /** Parsed before any hook. */
  query?: unknown
  auth?: Principal | null
}

interface FastifyReply {
  raw: ServerResponse
  header(name: string, value: string): unknown
}

/** A hook of Fastify, such as `preHandler`, for one route. */
export type FastifyGate = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/** The part of a Fastify application that we use. */
export interface FastifyApp {
  addHook(name: 'onReady', hook: () => void): unknown
  /** Calls back when everything that was registered before has loaded. */
  after(callback: (error: Error | null, done: (error: Error | null) => void) => void): unknown
  decorateRequest(name: string, value: null): unknown
  hasRequestDecorator(name: string): boolean
  server: Pick<Server, 'emit'>
}

function isFastify(app: unknown): app is FastifyApp {
  return typeof app === 'object' && hasMethods(app, ['addHook', 'after', 'decorateRequest', 'hasPlugin', 'inject'])
}
