import type { HonoContext } from './hono-message.js'

/** The part of a Hono application that we use. */
export interface HonoApp {
  readonly routes: HonoRoute[]
  use(middleware: HonoGate): unknown
  fire(): void
}

/** Whatever comes behind in the row. */
export type HonoNext = () => Promise<void>

/** Middleware of Hono for one route. */
export type HonoGate = (context: HonoContext, next: HonoNext) => Promise<Response | undefined>

/** What answers, or calls `next`. */
export type HonoHandler = (context: HonoContext, next: HonoNext) => Response | undefined | Promise<Response | undefined>

/** Whose `match` each request is sent by. */
export interface HonoRouter {
  readonly name: string
  add(method: string, path: string, handler: unknown): void
  match(method: string, path: string): HonoMatch
}

/** The handlers in a row, each with its route and its parameters; then what those point into, if they do. */
export type HonoMatch = [row: [[handler: HonoHandler, route: unknown], parameters: unknown][], shared?: unknown]

/** What Hono does not promise to have, so that it is looked for first. */
export interface FusableApp extends HonoApp {
  router: HonoRouter
  errorHandler(error: Error, context: HonoContext): Response | undefined | Promise<Response | undefined>
}

export function isFusable(app: HonoApp): app is FusableApp {
  if (!('router' in app && 'errorHandler' in app && app.router instanceof Object)) return false
  return typeof Reflect.get(app.router, 'match') === 'function' && typeof app.errorHandler === 'function'
}

/** What Hono keeps of a route. */
export interface HonoRoute {
  method: string
  /** `/api/:id{[0-9]+}`, `/files/*`; middleware for everything has `/*`. */
  path: string
}

export function isHono(app: unknown): app is HonoApp {
  if (typeof app !== 'object' || app === null || !Array.isArray(Reflect.get(app, 'routes'))) return false
  return ['use', 'fetch', 'fire', 'basePath'].every((name) => typeof Reflect.get(app, name) === 'function')
}
