import type { z } from 'zod'
import type { SessionPrincipal } from '../model/principal.js'
import type { SessionMode } from '../model/session.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import type { LimitKind, Settings } from '../settings.js'
import type { CookieJar } from './cookies.js'
import type { HttpRequest, HttpResponse } from './message.js'

/** What a route may use. */
export interface RouteContext {
  ports: Ports
  settings: Settings
  request: HttpRequest
  /** The client's address (read through `trustedProxies`) and user agent. */
  visitor: Visitor
  /** Values of `:name` segments. */
  params: Readonly<Record<string, string>>
  /** `token` when the client sent `X-Auth-Mode: token` and is no browser. */
  mode: SessionMode
  /** Our cookies on the request, by their short names. */
  cookies: CookieJar
  /** Path that our narrow cookies are bound to: the mount, the path of `baseUrl` and `basePath`. */
  cookiePath: string
  /** The signed-in session. Throws `AuthError` as the guard would when there is none. */
  session(): Promise<SessionPrincipal>
  /** A form of our own pages: success and failure are 303 redirects. */
  form: boolean
  requestId: string
}

/** A route is data: the router, the README, the OpenAPI document and the tests read the list of them. */
export interface Route<Schema extends z.ZodType = z.ZodType> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `basePath`; `:name` stands for one segment. */
  path: string
  /** Further paths with the same meaning. */
  aliases?: readonly string[]
  limit: LimitKind
  /** null: the route reads no body. */
  body: Schema | null
  /** What it does, in one sentence for README and reference. */
  summary: string
  /** Only in development. */
  development?: boolean
  handle(context: RouteContext, body: z.output<Schema>): Promise<HttpResponse>
}
