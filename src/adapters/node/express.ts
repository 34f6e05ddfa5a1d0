import { memberOf } from '../../lib/members.js'
import { type Adapter, failure } from '../adapter.js'
import { answer } from './answer.js'
import { nodeGate } from './listener.js'
import { createEntrance } from './rewrites/entrance.js'
import {
  currentRouter,
  type ExpressApp,
  type ExpressRequest,
  type ExpressResponse,
  guardLayers,
  isExpress,
  routerOf,
} from './rewrites/express-layers.js'
import { leaving } from './rewrites/judged.js'

/**
 * Express 4 and 5.
 *
 * The guard must hold wherever `init` stands, so the layer wraps `router.handle`: every request to the application's routes
 * passes it, also when the application is mounted in another one. Set `strict routing`, `case sensitive routing` and, in
 * Express 4, `query parser` before `init`, as before any `app.use`: the router reads them when Express creates it.
 *
 * What the application then rewrites is judged again before the next handler runs (see `guardLayers`). An application that
 * got another router since answers 500, because no guard stands before that one.
 */
export const express: Adapter = {
  name: 'Express 4 and 5',
  recognises: isExpress,
  mount(app, handle, { logger, hooked }) {
    if (!isExpress(app)) throw new TypeError('not an Express application')
    const router = routerOf(app)
    guardLayers(router)
    const enter = createEntrance({ handle, hooked, dress: (req, res) => dress(app, req, res) })
    const route = router.handle
    router.handle = (req, res, done) => {
      const leave = leaving(req, done)
      enter(req, res, () => route.call(router, req, res, leave))
    }
    const serve = app.handle
    app.handle = (req, res, done) => {
      if (currentRouter(app) === router) return serve.call(app, req, res, done)
      logger.error({ event: 'guard_bypassed' }, bypassed)
      return answer(req, res, failure)
    }
  },
  routes: (app) => (isExpress(app) ? expressRoutes(routerOf(app)) : null),
  gate: nodeGate,
}

const bypassed = 'The router of the Express application was replaced after init. Replace it before init is called.'

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

/**
 * The paths of the routes of an Express router and of the routers mounted in it. A handler mounted at a path counts as a
 * route. Returns null when one of them is no plain text: Express 4 does not keep where a router is mounted.
 */
function expressRoutes(router: unknown, mount = ''): string[] | null {
  const stack = memberOf(router, 'stack')
  if (!Array.isArray(stack)) return null
  const paths: string[] = []
  for (const layer of stack) {
    const found = pathsOf(layer, mount)
    if (found === null) return null
    paths.push(...found)
  }
  return paths
}

function pathsOf(layer: unknown, mount: string): string[] | null {
  const route = memberOf(layer, 'route')
  const path = route === undefined ? mountOf(layer) : memberOf(route, 'path')
  if (typeof path !== 'string') return null
  const whole = `${mount}${path}`.replace(/\/+/g, '/')
  if (route !== undefined) return [whole]
  const handler = memberOf(layer, 'handle')
  if (Array.isArray(memberOf(handler, 'stack'))) return expressRoutes(handler, whole)
  // Middleware for everything, such as a body parser.
  return path === '/' ? [] : [whole]
}

function mountOf(layer: unknown): unknown {
  const isRoot = memberOf(memberOf(layer, 'regexp'), 'fast_slash') === true
  return memberOf(layer, 'rawPath') ?? (isRoot ? '/' : undefined)
}
