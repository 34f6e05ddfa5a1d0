import { AuthError, type FieldError, storeUnavailable } from '../errors.js'
import type { SessionPrincipal } from '../model/principal.js'
import { signedInVisitor, type Visitor } from '../model/visitor.js'
import type { Ports } from '../ports.js'
import type { LimitKind, Logger, Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
import { type Body, readBody, unreadBody } from './body.js'
import { type CookieJar, type CookieNames, holdsCredential, noCookies, prepareCookies, readCookies } from './cookies.js'
import { logFault, toAuthError } from './faults.js'
import { allowedReturnTo } from './landing.js'
import { bearerToken, type HttpRequest, type HttpResponse, isPieces, reported, uploadOf } from './message.js'
import { originFault, sentAdminToken } from './origin.js'
import type { OriginCheck } from './origin-check.js'
import { placed } from './placed-route.js'
import { explanation, withHeaders } from './problem.js'
import { authPathOf, refusal, refusalUnread } from './refusal.js'
import { createRequestLimits, type RequestLimits } from './request-limits.js'
import { isForm, modeOf } from './request-mode.js'
import type { Acting, MailboxView, Route, RouteContext, SignedIn } from './route.js'
import { allowed, createRouteTable, type RouteMatch, routeFor } from './route-table.js'

export interface RouterOptions {
  routes: readonly Route[]
  settings: Settings
  ports: Ports
  cookieNames: CookieNames
  /** The session of the request; rejects with `AuthError`. */
  session(request: HttpRequest): Promise<SessionPrincipal>
  /** Whether the tokens of the request are of an impersonated session that has not ended, expired access token or not. */
  acting(request: HttpRequest): Acting | null
  /** The user whose valid tokens the request has, as the name of the limit. No I/O. */
  knownSession(request: HttpRequest): string | null
  templates: Templates
  mailbox: MailboxView | null
  origins: Pick<OriginCheck, 'fault'>
  visitor(request: HttpRequest): Visitor
  /** Throws `AuthError` when the IP allow-list excludes the client. */
  requireAllowed(request: HttpRequest): void
  requestId(): string
  logger: Logger
  /** Called with the code of each refusal. */
  refused(code: string): void
  /** Whether revocation data is fresh. */
  isCurrent(): boolean
}

/** Finds the route, checks the origin, parses the body, and turns every result or error into a response. */
export interface Router {
  /** Null when no route of ours matches. */
  find(request: HttpRequest): RouteMatch | null
  /** For a path below `basePath` that `find` does not know. Never rejects. */
  missing(request: HttpRequest): Promise<HttpResponse>
  /** Never rejects. */
  answer(request: HttpRequest, match: RouteMatch): Promise<HttpResponse>
}

export function createRouter(options: RouterOptions): Router {
  const ownPaths = `${options.settings.basePath}/`
  const working: Working = { ...options, limits: createRequestLimits(options.ports, options.logger) }
  requireCarried(options)
  const enabled = options.routes.filter((route) => answers(route, options.settings))
  const table = createRouteTable(enabled.filter(({ root }) => !root).map((route) => placed(route, options.settings)))
  const rootTable = createRouteTable(enabled.filter(({ root }) => root))
  return {
    find({ path }) {
      if (path[1] === '.' && path.startsWith('/.well-known/')) return rootTable(path)
      // Few paths have a slash at this position, so few need the full comparison.
      if (path[ownPaths.length - 1] !== '/' || !path.startsWith(ownPaths)) return null
      return table(path.slice(ownPaths.length - 1))
    },
    missing: (request) => missing(working, request),
    answer: (request, match) => answer(working, request, match),
  }
}

/** @throws {TypeError} for a route that streams, outside the host: other adapters carry whole bodies only */
function requireCarried({ routes, ports }: RouterOptions): void {
  const streaming = routes.find(({ streams }) => streams !== undefined)
  if (streaming === undefined || ports.home === 'host') return
  throw new TypeError(`${streaming.method} ${streaming.path} streams, and only the host carries that.`)
}

/** Whether the settings enable the route. A disabled route is a 404. */
export function answers(route: Route, settings: Settings): boolean {
  return (!route.development || settings.development) && (route.enabled?.(settings) ?? true)
}

/** The router's options, and what it builds once. */
interface Working extends RouterOptions {
  limits: RequestLimits
}

async function answer(options: Working, request: HttpRequest, match: RouteMatch): Promise<HttpResponse> {
  const requestId = options.requestId()
  const { params } = match
  const seen: Seen = { requestId, form: false, route: null, params, body: null, returnTo: null, headers: {} }
  try {
    const response = await dispatch(options, request, match, seen)
    return finished(watched(options, response, requestId), seen, requestId)
  } catch (error) {
    const fault = toAuthError(error)
    logFault(options.logger, fault, requestId)
    options.refused(fault.code)
    const allow = fault.code === 'method_not_allowed' ? { allow: allowed(match) } : {}
    const headers = { ...allow, ...explanation(options.settings, fault) }
    return finished(await refusal(options, { ...seen, request, fault, headers }), seen, requestId)
  }
}

/** The 404 for a path below `basePath`. */
async function missing(options: Working, request: HttpRequest): Promise<HttpResponse> {
  return refusalUnread(options, { request, requestId: options.requestId(), fault: new AuthError('not_found') })
}

/** The request as far as it was read when the response is written. */
interface Seen {
  requestId: string
  form: boolean
  route: Route | null
  params: RouteMatch['params']
  body: unknown
  /** The return address of its form, already checked. */
  returnTo: string | null
  /** The headers of its limit. */
  headers: HttpResponse['headers']
}

async function dispatch(options: Working, request: HttpRequest, match: RouteMatch, seen: Seen): Promise<HttpResponse> {
  const visitor = options.visitor(request)
  const sentTo = routeFor(match, request.method)
  // Only paths of the control API have such routes, with every method.
  if ([...match.byMethod.values()].some(({ control }) => control)) options.requireAllowed(request)
  if (uploads(sentTo)) seen.route = sentTo
  const cookies = readCookies(request.headers.cookie, options.cookieNames)
  if (sentTo?.unasked?.(request, cookies)) throw new AuthError('csrf_rejected')
  // A page of another site can send requests from the address of its visitor: they use up no limit of sign-ins.
  // None can send the header of an admin token, which has a refusal of its own.
  const judges = request.headers['x-admintoken'] === undefined || !takesAdminTokens(options, match)
  const foreign = sentTo && judges ? foreignFault(options, request, sentTo, cookies, isForm(request)) : null
  await limit(options, { request, match, route: foreign ? null : sentTo, visitor }, seen)
  if (foreign) throw foreign

  const adminToken = takesAdminTokens(options, match) ? sentAdminToken(request, cookies) : null
  const mode = modeOf(request, cookies)
  const body = uploads(sentTo) ? unreadBody(request) : await readBody(request)
  seen.form = body.form
  seen.body = body.value
  seen.returnTo = allowedReturnTo(options.settings, body.redirect)
  const method = request.method === 'POST' ? (body.method ?? 'POST') : request.method
  const route = routeFor(match, method)
  if (!route) throw new AuthError('method_not_allowed')
  seen.route = route
  // With stale revocation data a process could sign a token for a session that has ended, perhaps by a wrong clock.
  const changes = method !== 'GET' || route.changes === true
  if ((changes || adminToken !== null) && !options.isCurrent()) throw storeUnavailable()
  // Once more, with what the body says: that it is a form, and for which route.
  const fault = foreignFault(options, request, route, cookies, body.form)
  if (fault) throw fault
  if (kindOf(route) !== kindOf(sentTo)) await limit(options, { request, match, route, visitor }, seen)
  // The one place that decides it: a new route is closed until its row says otherwise.
  if (changes && !route.duringImpersonation && options.acting(request)) throw new AuthError('impersonation_forbidden')

  await prepareCookies()
  const context = contextFor(options, request, match, { visitor, mode, cookies, adminToken, ...seen })
  return route.handle(context, await parse(route, body))
}

/** The refusal by the origin rule. */
function foreignFault({ origins }: Working, request: HttpRequest, route: Route, cookies: CookieJar, form: boolean) {
  if (route.crossSite) return null
  const cookieDecides = request.headers['x-auth-mode'] === undefined && holdsCredential(cookies)
  return origins.fault(request, { cookieDecides, form })
}

/** The control API of the host, and not its pages. An application has no admin tokens and does not look at the header. */
function takesAdminTokens({ ports }: Working, { byMethod }: RouteMatch): boolean {
  return ports.adminTokens !== null && [...byMethod.values()].some(({ control }) => control && !control.page)
}

/**
 * Runs before the body is read, so that a flood is cheap, and again when a form names another method.
 *
 * @throws {AuthError} `rate_limited`; `store_unavailable` when the request cannot be counted (ASVS 5.0, 16.5.3)
 */
async function limit(options: Working, limited: Limited, seen: Seen): Promise<void> {
  const { limits, settings } = options
  const { request, route, visitor } = limited
  const { headers, fault } = await limits(kindOf(route), visitor.ip, () => knownCredential(options, limited))
  seen.headers = headers
  if (!fault) return
  // Only forms of our own pages are redirected (ATK-078).
  seen.form = isForm(request) && originFault(request, settings, { cookieDecides: true, form: true }) === null
  seen.route = route
  throw fault
}

interface Limited {
  request: HttpRequest
  match: RouteMatch
  route: Route | null
  visitor: Visitor
}

/**
 * The valid session or admin token of a request, whose address is over its limit. null where the route takes guesses or
 * sends mail: each account would get more of them.
 */
async function knownCredential(options: Working, { request, match, route, visitor }: Limited): Promise<string | null> {
  if (!['admin', 'other', 'refresh'].includes(kindOf(route))) return null
  const session = options.knownSession(request)
  const { adminTokens } = options.ports
  if (session !== null || adminTokens === null || !takesAdminTokens(options, match)) return session
  try {
    const sent = sentAdminToken(request, readCookies(request.headers.cookie, options.cookieNames))
    return sent === null ? null : `adminToken ${(await adminTokens.identify(sent, visitor)).tokenId}`
  } catch {
    return null
  }
}

function kindOf(route: Route | null): LimitKind {
  return route?.limit ?? 'other'
}

function uploads(route: Route | null): boolean {
  return route?.streams === 'in' || route?.streams === 'both'
}

/** An error in the middle of an answer can only cut it off, so it is logged here. */
function watched({ logger }: Working, response: HttpResponse, requestId: string): HttpResponse {
  const { body } = response
  if (!isPieces(body)) return response
  return { ...response, body: reported(body, (error) => logFault(logger, toAuthError(error), requestId)) }
}

function contextFor(
  options: RouterOptions,
  request: HttpRequest,
  match: RouteMatch,
  found: Pick<RouteContext, 'visitor' | 'mode' | 'cookies' | 'adminToken'> & Seen,
): RouteContext {
  const { settings, ports, cookieNames } = options
  const { visitor, mode, cookies, adminToken, form, returnTo, requestId } = found
  return {
    ports,
    settings,
    request,
    visitor,
    params: match.params,
    mode,
    cookies: mode === 'token' ? noCookies : cookies,
    cookieNames,
    authPath: authPathOf(settings, request),
    bearer: bearerToken(request),
    adminToken,
    session: () => signedIn(options, request, visitor),
    space: null,
    acting: () => options.acting(request),
    templates: options.templates,
    mailbox: options.mailbox,
    form,
    report: (fault) => logFault(options.logger, fault, requestId),
    requestId,
    upload: (limitBytes) => uploadOf(request, limitBytes),
    returnTo,
    landing: returnTo ?? settings.redirectSuccessUrl,
  }
}

async function signedIn(options: RouterOptions, request: HttpRequest, visitor: Visitor): Promise<SignedIn> {
  const principal = await options.session(request)
  return { principal, visitor: signedInVisitor(visitor, principal) }
}

/**
 * Without its key named `__proto__`, the filter of a query is `{}`, which matches everything.
 *
 * @throws {AuthError} `invalid_request`
 */
async function parse(route: Route, { value, lostKeys }: Body): Promise<unknown> {
  if (route.body === null) return null
  if (route.control && lostKeys) throw invalidRequest([{ path: '', message: 'A key is named __proto__.' }])
  const parsed = await route.body.safeParseAsync(value)
  if (parsed.success) return parsed.data
  throw invalidRequest(parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })))
}

function invalidRequest(errors: FieldError[]): AuthError {
  return new AuthError('invalid_request', { errors })
}

/** What an upload leaves unread must not hold the connection. */
function finished(response: HttpResponse, { headers, route }: Seen, requestId: string): HttpResponse {
  const close = uploads(route) ? { connection: 'close' } : {}
  return withHeaders(response, { ...headers, ...close, 'x-request-id': requestId })
}
