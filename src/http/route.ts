import type { z } from 'zod'
import type { AuthError, ErrorCode } from '../errors.js'
import type { Mail } from '../mail/mailer.js'
import type { SessionPrincipal } from '../model/principal.js'
import type { SessionMode } from '../model/session.js'
import type { Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import type { LimitKind, Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
import type { CookieJar, CookieName, CookieNames } from './cookies.js'
import type { HttpRequest, HttpResponse } from './message.js'

/** The development mailbox as its page shows it. */
export interface MailboxView {
  /** What the printed address carries as `key`. */
  key: string
  /** Newest first; `at` is ISO 8601 in UTC. */
  list(): readonly (Mail & { at: string })[]
  /** Every mail that there is, with sample values, in the language, brand and templates of the settings. */
  samples(): readonly Mail[]
}

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
  /** Our cookies on the request; all null in token mode. */
  cookies: CookieJar
  cookieNames: CookieNames
  /** Where the auth routes lie for the client: mount or path of `baseUrl`, and `basePath`. Narrow cookies are bound to it. */
  authPath: string
  /** The bearer token of the request, or null. */
  bearer: string | null
  /** The signed-in session. Rejects with `AuthError` as the guard would when there is none. */
  session(): Promise<SessionPrincipal>
  templates: Templates
  /** The development mailbox; null where there is none. */
  mailbox: MailboxView | null
  /** A form of our own pages: success and failure are 303 redirects. */
  form: boolean
  /** Where a form of our own pages ends that succeeds: what it asked for, if that may be, else `redirectSuccessUrl`. */
  landing: string
  /** Tells the owner of what they must look at, where the route leads the browser on instead of refusing. */
  report(fault: AuthError): void
  /** What it asked for, if that may be: for pages between here and there. */
  returnTo: string | null
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
  /** Where a form that posts here stands, below `basePath`, for when it fails. Default: `/error`. */
  page?: string
  /** The part of that page where the form stands, which then tells how it ended: `at` in the address. */
  section?: string
  /** Needs somebody signed in: a browser with nobody (any more) is led to sign in, and then to the page. */
  signedIn?: true
  /** What it does, in one sentence for README and reference. */
  summary: string
  /** What a success answers, by status: the schema of its JSON, null for none. Without it the route is a page or its file. */
  answers?: Readonly<Record<number, z.ZodType | 'page' | null>>
  /** What it may be refused with besides what every route may, or every route of the signed-in. */
  errors?: readonly ErrorCode[]
  /** Those of an earlier step by which it goes, and those of a session that it reads but does not ask for. */
  cookies?: readonly CookieName[]
  /** What it reads of its query, each with a sentence for the reference. */
  query?: Readonly<Record<string, string>>
  /** Nothing for clients without cookies. */
  browserOnly?: true
  /** Fields of a refused form that the page gets again in its address: what our own mail link brought there. */
  keepsOnError?: readonly string[]
  /** A GET that leaves something behind or uses something up: HEAD is no way to ask for it. */
  changes?: boolean
  /** May be posted to from any site: it reads no cookie and changes nothing. */
  crossSite?: boolean
  /** Answers in development only. */
  development?: boolean
  /** Whether the settings let it answer; without this they always do. */
  enabled?(settings: Settings): boolean
  handle(context: RouteContext, body: z.output<Schema>): Promise<HttpResponse>
}

/** Keeps the type of the body between a route's schema and its handler, and forgets it in the table. */
export function defineRoute<Schema extends z.ZodType>(route: Route<Schema>): Route {
  return { ...route, handle: (context, body) => route.handle(context, checked(body)) }

  /** Boundary: the router hands over only what this very schema has parsed. */
  function checked(body: unknown): z.output<Schema> {
    return body as z.output<Schema>
  }
}
