import { SettingsError } from '../../errors.js'
import { memberOf } from '../../lib/members.js'
import { type FastifyApp, type FastifyGate, isFastify } from './fastify-shape.js'

/** @throws {SettingsError} if the application's hooks would not cover everything that it serves */
export function requireRoot(app: FastifyApp): void {
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
export function standFirst(app: FastifyApp, hook: FastifyGate): void {
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

export function fault(message: string): SettingsError {
  return new SettingsError([{ setting: 'app', message }])
}
