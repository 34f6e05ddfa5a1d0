import type { ServerResponse } from 'node:http'
import { memberOf } from '../../../lib/members.js'
import { type ExpressHandle, type ExpressRouter, unknownVersion } from './express-shape.js'
import { whenJudged } from './judge-again.js'
import type { JudgedRequest, Next } from './judged.js'
import { outdatedOf } from './outdated.js'
import { ownerOf, replaceOnce } from './replace-once.js'

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
