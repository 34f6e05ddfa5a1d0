import type { z } from 'zod'
import type { AdminCommand } from '../contract/admin-command.js'
import type { AuthError, ErrorCode } from '../errors.js'
import type { Mail } from '../mail/mailer.js'
import type { HomeName } from '../model/home.js'
import type { RefusedMail } from '../model/mail-limit.js'
import type { SessionPrincipal } from '../model/principal.js'
import type { SessionMode } from '../model/session.js'
import type { SpaceName, Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import type { LimitKind, Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
import type { CookieJar, CookieName, CookieNames } from './cookies.js'
import type { HttpRequest, HttpResponse } from './message.js'

/** The development mailbox as its page shows it. */
export interface MailboxView {
  /** The `key` of the printed address. */
  key: string
  /** Newest first; `at` is ISO 8601 in UTC. */
  list(): readonly ((Mail | RefusedMail) & { at: string })[]
  /** Every kind of mail with sample values, in the language, brand and templates of the settings. */
  samples(): readonly Mail[]
}

/** The signed-in user, and the visitor to pass to a flow: it names this session as the actor. */
export interface SignedIn {
  principal: SessionPrincipal
  visitor: Visitor
}

/** An impersonation that the tokens of a request name. */
export interface Acting {
  /** The user's address; null where only the refresh token was sent. */
  email: string | null
}

/** What each space has for itself. */
export interface SpacePorts extends Pick<Ports, 'apiTokens' | 'accessSettings' | 'keySets' | 'policy'> {
  space: SpaceName
}

/** Everything that a route may use. */
export interface RouteContext {
  ports: Ports
  settings: Settings
  request: HttpRequest
  /** The client's address (read through `trustedProxies`) and user agent, without an actor. */
  visitor: Visitor
  /** Values of `:name` segments. */
  params: Readonly<Record<string, string>>
  /** `token` when the client sent `X-Auth-Mode: token` and is no browser. */
  mode: SessionMode
  /** Our cookies on the request; all null in token mode. */
  cookies: CookieJar
  cookieNames: CookieNames
  /** The path of the auth routes as the client sees it: mount or `baseUrl` path, then `basePath`. */
  authPath: string
  /** The bearer token of the request, or null. */
  bearer: string | null
  /** The admin token of a request to the control API of the host, not checked yet; else null. */
  adminToken: string | null
  /** The signed-in session. Rejects with `AuthError` as the guard would when there is none. */
  session(): Promise<SignedIn>
  /** Whether an administrator impersonates the user, for the banner of a page; null: no. */
  acting(): Acting | null
  templates: Templates
  /** The development mailbox; null where there is none. */
  mailbox: MailboxView | null
  /** A form of our own pages: success and failure are 303 redirects. */
  form: boolean
  /** Where a successful form of our pages redirects to: its allowed return address, else `redirectSuccessUrl`. */
  landing: string
  /**
   * The ports of the space that the path names; null on a route that concerns no space.
   *
   * @throws {AuthError} `space_not_found`
   */
  space: (() => Promise<SpacePorts>) | null
  /** The id of the request in log and answer. */
  requestId: string
  /**
   * The body piece by piece, on a route that `streams` in. The limit counts bytes.
   *
   * @throws {AuthError} as `pieces` of the request's body
   */
  upload(limitBytes: number): AsyncIterable<Uint8Array>
  /** Logs a fault when the route redirects the browser instead of refusing. */
  report(fault: AuthError): void
  /** The return address of the form if it is allowed, for pages on the way to it. */
  returnTo: string | null
}

/** Who may call a route of the control API. */
export interface ControlRule {
  /**
   * Where it exists: in an application, in the host of many applications, or in both. `space`: in an application, and in the
   * host below `/spaces/:space`, about that space.
   */
  home: HomeName | 'both' | 'space'
  /** `admin`: the right ADMIN. `member`: the right ADMIN or MEMBER. `open`: no credential. */
  who: 'admin' | 'member' | 'open'
  /** Needs a sign-in that is at most `admin.recent` old. */
  recent: boolean
  /** `confirm` in the body must repeat what is about to be lost. A text names the requests that need it. */
  confirm: boolean | string
  /** The command of the tool that calls it; null: none. */
  command: string | null
  /** The command for which the route takes an admin token of the host; `any`: it takes each. Absent: none. */
  adminToken?: AdminCommand | 'any'
  /** An admin page, which the setting `admin.page` places. */
  page?: true
}

/** A route is data: the router, the docs, the OpenAPI document and the tests read the list of them. */
export interface Route<Schema extends z.ZodType = z.ZodType> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `basePath`; `:name` stands for one segment. */
  path: string
  /** `path` is one of the whole host, below `/.well-known/` (RFC 8615). */
  root?: true
  /** Further paths with the same meaning. */
  aliases?: readonly string[]
  limit: LimitKind
  /** null: the route reads no body. */
  body: Schema | null
  /**
   * The page below `basePath` whose form posts here; a failed form returns to it. It may name segments of the path.
   * Default: `/error`.
   */
  page?: string
  /** The section of that page that contains the form and shows the outcome: `at` in the address. */
  section?: string
  /** Needs a signed-in user. A browser without a session is redirected to sign-in, then back to the page. */
  signedIn?: true
  /** Belongs to the control API. The IP allow-list applies to it. */
  control?: ControlRule
  /** One sentence for docs and reference. */
  summary: string
  /** Successful responses by status: the schema of the JSON, `lines` for JSON lines, null for none. Without it the route is a page or its file. */
  answers?: Readonly<Record<number, z.ZodType | 'page' | 'lines' | null>>
  /** Error codes beside those of every route, or of every route for signed-in users. */
  errors?: readonly ErrorCode[]
  /** Cookies of an earlier step that it uses, and session cookies that it reads but does not require. */
  cookies?: readonly CookieName[]
  /** Query parameters that it reads, each with a sentence for the reference. */
  query?: Readonly<Record<string, string>>
  /**
   * `in`: the route reads its body piece by piece, by `upload`. `out`: it answers in pieces. Only the host, which Node's
   * adapter serves, may have such routes.
   */
  streams?: 'in' | 'out' | 'both'
  /** Not usable by clients without cookies. */
  browserOnly?: true
  /** Fields of a refused form that its page gets again in its address, such as the token of a mailed link. */
  keepsOnError?: readonly string[]
  /** A GET with side effects, so HEAD is not allowed. */
  changes?: boolean
  /** Stays open while an administrator impersonates the user, although it changes something. */
  duringImpersonation?: true
  /** Any site may post to it: it reads no cookie and changes nothing. */
  crossSite?: boolean
  /** Whether a page has made its visitor send the request unasked. It is refused and not counted, so it uses up no limit. */
  unasked?(request: HttpRequest, cookies: CookieJar): boolean
  /** Answers in development only. */
  development?: boolean
  /** Whether the settings enable the route. Default: always. */
  enabled?(settings: Settings): boolean
  handle(context: RouteContext, body: z.output<Schema>): Promise<HttpResponse>
}

/** Ties the body's type of the schema to the handler, and drops it in the table. */
export function defineRoute<Schema extends z.ZodType>(route: Route<Schema>): Route {
  return { ...route, handle: (context, body) => route.handle(context, checked(body)) }

  /** Boundary: the router passes only values that this schema has parsed. */
  function checked(body: unknown): z.output<Schema> {
    return body as z.output<Schema>
  }
}
