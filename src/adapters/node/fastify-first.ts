import { SettingsError } from '../../errors.js'
import { memberOf } from '../../lib/members.js'
import { type FastifyApp, type FastifyGate, isFastify } from './fastify-shape.js'

/** @throws {SettingsError} where a hook of the application would not stand before all that it serves */
export function requireRoot(app: FastifyApp): void {
  if (isFastify(Object.getPrototypeOf(app))) throw fault('is a plugin of a Fastify application; init takes the root')
  requestHooks(app)
  if (plugins(app).length > 0)
    throw fault('plugins were awaited already: move init above the first await app.register(…)')
}

/**
 * Puts the hook before all others, also before those that were there first: what answers in one of them is not guarded.
 *
 * Fastify itself adds behind only, so it goes where Fastify keeps them. Each plugin begins with a copy of that, and none has
 * begun (see `requireRoot`). Where it does not stand first in all of them in the end, the application does not start.
 *
 * Throws when that has started: it takes nothing into its queue then.
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

/** In the order in which each request meets them. */
function requestHooks(app: object): unknown[] {
  const hooks = kept(app, 'fastify.hooks')
  const found = memberOf(hooks, 'onRequest')
  if (!Array.isArray(found)) throw fault('this version of Fastify keeps its hooks where nobody knows')
  return found
}

function plugins(app: object): object[] {
  const found = kept(app, 'fastify.children')
  if (!Array.isArray(found)) throw fault('this version of Fastify keeps its plugins where nobody knows')
  return found
}

/** What Fastify keeps of an instance under a symbol of its own, which is known by its description alone. */
function kept(app: object, description: string): unknown {
  const key = Object.getOwnPropertySymbols(app).find((symbol) => symbol.description === description)
  return key && memberOf(app, key)
}

export function fault(message: string): SettingsError {
  return new SettingsError([{ setting: 'app', message }])
}
