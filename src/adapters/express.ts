import { SettingsError } from '../errors.js'
import type { Adapter } from './adapter.js'
import { type ExpressHandle, type ExpressRequest, type ExpressResponse, nameEarly } from './express-names.js'
import { createListener, nodeGate } from './node-message.js'

/** The part of an Express 4 or 5 application that we use. */
interface ExpressApp {
  /** What requests and responses inherit from. */
  request: object
  response: object
  handle: ExpressHandle
  get(setting: 'query parser fn'): unknown
  /** Express 4 only: makes the router; there, reading `router` throws. */
  lazyrouter?(): void
  _router?: unknown
  router?: unknown
}

/** What every request goes through that enters the application's routes. */
interface ExpressRouter {
  handle: ExpressHandle
}

/**
 * Express 4 and 5.
 *
 * The layer stands before the router's stack, in the one method through which every way into the application's routes
 * leads, also when the application is mounted in another one. (As a layer of the stack it would cost each request a
 * few hundredths more.) `strict routing`, `case sensitive routing` and, in Express 4,
 * `query parser` are to be set before `init`, as before any `app.use`: the router reads them when it comes to be.
 */
export const express: Adapter = {
  name: 'Express 4 and 5',
  recognises: isExpress,
  mount(app, handle) {
    if (!isExpress(app)) throw new TypeError('not an Express application')
    const router = routerOf(app)
    nameEarly(app)
    const layer = createListener(handle, (req, res) => dress(app, req, res))
    const route = router.handle
    router.handle = (req, res, done) => layer(req, res, () => route.call(router, req, res, done))
  },
  gate: nodeGate,
}

function isExpress(app: unknown): app is ExpressApp {
  return typeof app === 'function' && ['use', 'set', 'handle', 'engine'].every((name) => name in app)
}

/** What Express itself does in the first layers of its router, which come after ours. */
function dress(app: ExpressApp, req: ExpressRequest, res: ExpressResponse): void {
  Object.setPrototypeOf(req, app.request)
  Object.setPrototypeOf(res, app.response)
  const { originalUrl = req.url, baseUrl = '', params = {} } = req
  Object.assign(req, { res, originalUrl, baseUrl, params })
  res.locals ??= Object.create(null)
  // Express 5 has a getter; Express 4 leaves what is there, so it has to be what its own parser makes.
  const parse = 'query' in req ? null : app.get('query parser fn')
  const [, query = null] = /\?(.*)/s.exec(req.url ?? '') ?? []
  if (typeof parse === 'function') Reflect.set(req, 'query', parse(query))
}

function routerOf(app: ExpressApp): ExpressRouter {
  app.lazyrouter?.()
  const router = app.lazyrouter === undefined ? app.router : app._router
  if (isRouter(router)) return router
  throw new SettingsError([{ setting: 'app', message: 'this version of Express keeps its routes where nobody knows' }])
}

function isRouter(router: unknown): router is ExpressRouter {
  return typeof router === 'function' && 'handle' in router && typeof router.handle === 'function'
}
