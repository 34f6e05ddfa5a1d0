import { hasMethods, memberOf } from '../../lib/members.js'
import type { HonoContext } from './message.js'

/** The part of a Hono application that we use. */
export interface HonoApp {
  readonly routes: HonoRoute[]
  use(middleware: HonoGate): unknown
  fire(): void
}

/** Runs the middleware and handlers that follow. */
export type HonoNext = () => Promise<void>

/** Middleware of Hono for one route. */
export type HonoGate = (context: HonoContext, next: HonoNext) => Promise<Response | undefined>

/** The part of a route that Hono keeps. */
export interface HonoRoute {
  method: string
  /** `/api/:id{[0-9]+}`, `/files/*`; middleware for everything has `/*`. */
  path: string
}

export function isHono(app: unknown): app is HonoApp {
  if (typeof app !== 'object' || !Array.isArray(memberOf(app, 'routes'))) return false
  return hasMethods(app, ['use', 'fetch', 'fire', 'basePath'])
}
