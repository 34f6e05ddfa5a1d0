import { SettingsError } from '../errors.js'
import type { Adapter } from './adapter.js'
import { createListener, type NodeListener } from './node-message.js'

/** The part of an Express 4 or 5 application that we use. */
interface ExpressApp {
  use(layer: NodeListener): unknown
  /** Express 4 only; there, reading `router` throws. */
  lazyrouter?: unknown
  _router?: unknown
  router?: unknown
}

/**
 * Express 4 and 5.
 *
 * The layer stands at the front of the router stack, through which every way into the application's routes leads, also
 * when the application is mounted in another one. `strict routing`, `case sensitive routing` and, in Express 4,
 * `query parser` are to be set before `init`, as before any `app.use`: the router reads them when it comes to be.
 */
export const express: Adapter = {
  name: 'Express 4 and 5',
  recognises: isExpress,
  mount(app, handle) {
    if (!isExpress(app)) throw new TypeError('not an Express application')
    app.use(createListener(handle))
    const stack = stackOf(app)
    stack.unshift(stack.pop())
  },
}

function isExpress(app: unknown): app is ExpressApp {
  return typeof app === 'function' && ['use', 'set', 'handle', 'engine'].every((name) => name in app)
}

function stackOf(app: ExpressApp): unknown[] {
  const router = app.lazyrouter === undefined ? app.router : app._router
  if (typeof router === 'function' && 'stack' in router && Array.isArray(router.stack)) return router.stack
  throw new SettingsError([{ setting: 'app', message: 'this version of Express keeps its routes where nobody knows' }])
}
