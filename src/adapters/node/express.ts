import type { ServerResponse } from 'node:http'
import { SettingsError } from '../../errors.js'
import type { Adapter } from '../adapter.js'
import { createListener, nodeGate } from './answer.js'
import type { NodeRequest } from './message.js'

type ExpressHandle = (req: ExpressRequest, res: ExpressResponse, done: (error?: unknown) => void) => unknown

/** A request with the properties that Express sets before it calls a handler. */
interface ExpressRequest extends NodeRequest {
  baseUrl?: unknown
  params?: unknown
}

interface ExpressResponse extends ServerResponse {
  locals?: unknown
}

/** The part of an Express 4 or 5 application that we use. */
interface ExpressApp {
  /** What requests and responses inherit from. */
  request: object
  response: object
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
 * The guard must hold wherever `init` stands, so the layer wraps `router.handle`: every request to the application's routes
 * passes it, also when the application is mounted in another one. Set `strict routing`, `case sensitive routing` and, in
 * Express 4, `query parser` before `init`, as before any `app.use`: the router reads them when Express creates it.
 */
export const express: Adapter = {
  name: 'Express 4 and 5',
  recognises: isExpress,
  mount(app, handle) {
    if (!isExpress(app)) throw new TypeError('not an Express application')
    const router = routerOf(app)
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
