import type { ServerResponse } from 'node:http'
import { SettingsError } from '../../../errors.js'
import { hasMethods, memberOf } from '../../../lib/members.js'
import type { JudgedRequest, Next } from './judged.js'

export type ExpressHandle = (req: ExpressRequest, res: ExpressResponse, done: Next) => unknown

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
export interface ExpressRouter {
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
export function unknownVersion(missing: string): SettingsError {
  const message = `this version of Express has no ${missing}, by which Latchkey guards it. Install Express 4.18 or 5`
  return new SettingsError([{ setting: 'app', message }])
}
