import type { ServerResponse } from 'node:http'
import { SettingsError } from '../../../errors.js'
import { hasMethods, memberOf } from '../../../lib/members.js'
import { outdatedOf, whenJudged } from './judge-again.js'
import type { JudgedRequest, Next } from './judged.js'

type Dispatch = (this: unknown, req: JudgedRequest, res: ServerResponse, next: Next) => unknown
type ParamCallback = (
  this: unknown,
  req: JudgedRequest,
  res: ServerResponse,
  next: Next,
  ...given: unknown[]
) => unknown

/**
 * Judges requests again before Express calls a handler or a callback of `app.param`, if the application has rewritten their
 * path or method since.
 *
 * Express has no hook between two layers, so this replaces two methods of its prototypes: `handleRequest` of a layer
 * (`handle_request` in Express 4), through which every handler of every router is called, and `handle` of a router, which
 * knows the callbacks. All applications of this copy of Express share them. They are replaced once, and do nothing for
 * requests that no guard has judged. Error handlers need no guard, because a request continues after them in the next layer.
 *
 * @throws {SettingsError} if Express no longer has these methods
 */
export function guardLayers(router: ExpressRouter): void {
  router.use(function probe() {})
  const layers: object = Object.getPrototypeOf(Object(router.stack.pop()))
  const method = ['handleRequest', 'handle_request'].find((name) => typeof memberOf(layers, name) === 'function')
  const routers = ownerOf(Object.getPrototypeOf(router), 'handle')
  if (method === undefined || routers === null)
    throw unknownVersion('Layer.prototype.handleRequest or Router.prototype.handle')
  replaceOnce(layers, method, guardedDispatch)
  replaceOnce(routers, 'handle', guardedHandle)
}

function guardedDispatch(dispatch: Dispatch): Dispatch {
  return function latchkey(req, res, next) {
    if (outdatedOf(req) === undefined) return dispatch.call(this, req, res, next)
    return whenJudged(req, res, () => dispatch.call(this, req, res, next))
  }
}

/** Callbacks of `app.param` run before the layer. Express reads them from lists, in which they are replaced. */
function guardedHandle(handle: ExpressHandle): ExpressHandle {
  return function latchkey(this: unknown, req, res, done) {
    const params = memberOf(this, 'params')
    for (const name in Object(params)) guardCallbacks(memberOf(params, name))
    return handle.call(this, req, res, done)
  }
}

function guardCallbacks(callbacks: unknown): void {
  if (!Array.isArray(callbacks)) return
  for (const index of callbacks.keys()) replaceOnce(callbacks, index, guardedCallback)
}

function guardedCallback(callback: ParamCallback): ParamCallback {
  return function latchkey(req, res, next, ...given) {
    if (outdatedOf(req) === undefined) return callback.call(this, req, res, next, ...given)
    return whenJudged(req, res, async () => {
      try {
        await callback.call(this, req, res, next, ...given)
      } catch (error) {
        next(error)
      }
    })
  }
}

const guarded = Symbol('latchkey.guarded')

/** The prototype that has the method. Instances may have replaced it. */
function ownerOf(prototype: object | null, name: string): object | null {
  if (prototype === null || Object.hasOwn(prototype, name)) return prototype
  return ownerOf(Object.getPrototypeOf(prototype), name)
}

/** Replaces a method of the framework by a guarded one, unless that was done before. */
function replaceOnce<Method extends object>(owner: object, name: PropertyKey, guard: (before: Method) => Method): void {
  const before = memberOf(owner, name)
  if (isMethod<Method>(before) && !(guarded in before)) {
    Reflect.set(owner, name, Object.assign(guard(before), { [guarded]: true }))
  }
}

function isMethod<Method>(value: unknown): value is Method {
  return typeof value === 'function'
}

type ExpressHandle = (req: ExpressRequest, res: ExpressResponse, done: Next) => unknown

/** A request with the properties that Express sets before it calls a handler. */
export interface ExpressRequest extends JudgedRequest {
  params?: unknown
}

export interface ExpressResponse extends ServerResponse {
  locals?: unknown
}

/** The part of an Express 4 or 5 application that we use. */
export interface ExpressApp {
  /** The prototypes of requests and responses. */
  request: object
  response: object
  get(setting: 'query parser fn'): unknown
  handle: ExpressHandle
  /** Express 4 only: makes the router; there, reading `router` throws. */
  lazyrouter?(): void
  _router?: unknown
  router?: unknown
}

/** The router through which every request to the application's routes goes. */
interface ExpressRouter {
  handle: ExpressHandle
  use(middleware: () => void): unknown
  /** Its layers. */
  stack: unknown[]
}

export function isExpress(app: unknown): app is ExpressApp {
  return typeof app === 'function' && ['use', 'set', 'handle', 'engine'].every((name) => name in app)
}

/** The application's current router, which the application may have replaced. */
export function currentRouter(app: ExpressApp): unknown {
  return app.lazyrouter === undefined ? app.router : app._router
}

/** @throws {SettingsError} when neither Express 4 nor 5 made the application */
export function routerOf(app: ExpressApp): ExpressRouter {
  app.lazyrouter?.()
  const router = currentRouter(app)
  if (isRouter(router)) return router
  throw unknownVersion('router.handle, router.use or router.stack')
}

export function isRouter(router: unknown): router is ExpressRouter {
  return hasMethods(router, ['handle', 'use']) && Array.isArray(memberOf(router, 'stack'))
}

/** Fails loudly, because without the missing part the guard could be bypassed. */
function unknownVersion(missing: string): SettingsError {
  const message = `this version of Express has no ${missing}, by which Latchkey guards it. Install Express 4.18 or 5`
  return new SettingsError([{ setting: 'app', message }])
}
