import type { ServerResponse } from 'node:http'
import { hasMethods, memberOf } from '../../../lib/members.js'
import { guardLayers as guardExpressLayers, isExpress, isRouter, routerOf } from './express-layers.js'
import { outdatedOf, whenJudged } from './judge-again.js'
import { innermost, type JudgedRequest, mountedOf, type Next, setTaken, takenOf } from './judged.js'

/**
 * Judges requests again before a layer runs, if the application has rewritten their path or method since.
 *
 * connect has no hook between two layers but keeps them in a list, so each layer is wrapped there: present ones, those that
 * `app.use` adds, and at each request those that were added in another way. An application that is mounted after `init` is
 * treated alike. The layers of one that was mounted before are in a closure of connect and cannot be reached.
 */
export function guardLayers(app: ConnectApp): void {
  if (app[guarded]) return
  app[guarded] = true
  const { use, handle } = app
  guardStack(app)
  app.use = (...given) => {
    const used = use.apply(app, given)
    given.forEach(guardMounted)
    guardStack(app)
    return used
  }
  app.handle = (req, res, next) => {
    guardStack(app)
    return handle.call(app, req, res, next)
  }
}

function guardStack({ stack }: ConnectApp): void {
  for (const layer of stack) if (isUnguarded(layer)) guardLayer(layer)
}

function guardMounted(app: unknown): void {
  if (isConnect(app)) guardLayers(app)
  else if (isExpress(app)) guardExpressLayers(routerOf(app))
  else if (isRouter(app)) guardExpressLayers(app)
}

function guardLayer(layer: ConnectLayer): void {
  const { handle, route } = layer
  if (handle.length < 4) {
    const guarding = guardedHandler(handle)
    layer.handle = route === '' || route === '/' ? guarding : mountedHandler(route, guarding)
  }
  layer[guarded] = layer.handle
}

/** Runs when every guard has judged the current request. Errors go to `next`, as in connect. */
function guardedHandler(handle: ConnectHandler): ConnectHandler {
  return function latchkey(req, res, next) {
    if (outdatedOf(req) === undefined) return handle(req, res, next)
    return whenJudged(req, res, () => {
      try {
        handle(req, res, next)
      } catch (error) {
        next(error)
      }
    })
  }
}

/** connect does not report the prefix that it removed from the path, so this keeps it until the layer is done. */
function mountedHandler(route: string, handle: ConnectHandler): ConnectHandler {
  return function latchkey(req, res, next) {
    const taken = takenOf(req)
    const leave = (error?: unknown) => {
      setTaken(req, taken)
      next(error)
    }
    setTaken(req, { mounted: mountedOf(req) + asJudged(req, route), baseUrl: req.baseUrl ?? '' })
    try {
      handle(req, res, leave)
    } catch (error) {
      leave(error)
    }
  }
}

/**
 * The prefix as it was judged. connect compares prefixes in any case and serves every spelling alike, but `publicRoutes` are
 * exact: judged again in the spelling of the layer, a public path would be refused.
 */
function asJudged(req: JudgedRequest, route: string): string {
  const judged = innermost(req)
  const mounted = mountedOf(req)
  if (judged === undefined || !mounted.startsWith(judged.entry)) return route
  const start = mounted.length - judged.entry.length
  const spelled = judged.path.slice(start, start + route.length)
  return spelled.toLowerCase() === route.toLowerCase() ? spelled : route
}

/** Marks an application and its layers that are guarded. */
const guarded: unique symbol = Symbol('latchkey.guarded')

type ConnectHandler = (req: JudgedRequest, res: ServerResponse, next: Next) => unknown

/** The part of a connect-style application that we use. */
interface ConnectApp {
  handle: (req: JudgedRequest, res: ServerResponse, next?: Next) => unknown
  use(...given: unknown[]): unknown
  stack: unknown[]
  [guarded]?: boolean
}

interface ConnectLayer {
  /** The prefix that connect removes from the path for the layer. */
  route: string
  handle: ConnectHandler
  /** The handle that guards, or that needs no guard because it handles errors. */
  [guarded]?: unknown
}

export function isConnect(app: unknown): app is ConnectApp {
  if (typeof app !== 'function' || 'engine' in app || !Array.isArray(memberOf(app, 'stack'))) return false
  return hasMethods(app, ['use', 'handle', 'listen'])
}

function isUnguarded(layer: unknown): layer is ConnectLayer {
  return hasMethods(layer, ['handle']) && 'route' in layer && memberOf(layer, guarded) !== memberOf(layer, 'handle')
}
