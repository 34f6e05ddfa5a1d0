import { AuthError } from '../errors.js'
import { type CookieNames, readCookie } from '../http/cookies.js'
import { corsHeaders } from '../http/cors.js'
import { type HttpRequest, type HttpResponse, singleHeader } from '../http/message.js'
import { originFault } from '../http/origin.js'
import { problem, redirect, transportHeaders, withHeaders } from '../http/problem.js'
import { bearerOf, logFault, toAuthError } from '../http/router.js'
import { untouched, type Verdict } from '../http/verdict.js'
import type { Principal, SessionPrincipal } from '../model/principal.js'
import type { Requirement } from '../settings/requirement.js'
import type { Settings } from '../settings.js'
import { createForwardedHeaders, plantedHeaders } from './forwarded-headers.js'
import { checkRequirement } from './require.js'
import type { Revocations } from './revocations.js'
import { createScope } from './scope.js'
import { checkSession, type SessionCheckPorts } from './session.js'

export interface GuardOptions extends Omit<SessionCheckPorts, 'demandsFactor'> {
  settings: Settings
  cookieNames: CookieNames
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow' | 'isFresh' | 'catchUp'>
  clientIp(request: HttpRequest): string | null
  requestId(): string
}

export interface Guard {
  /** A request under a guarded prefix: who may pass, passes. Synchronous while the news is fresh. */
  protect(request: HttpRequest): Verdict | Promise<Verdict>
  /** A request that `publicRoutes` lets through: nobody is asked, but nothing a client says of itself gets by. */
  open(request: HttpRequest): Verdict
  /**
   * What one route asks for on top: whoever was found already, else whoever is behind the request, passes if it holds.
   * Synchronous like `protect`.
   */
  require(request: HttpRequest, requirement: Requirement, found: Principal | null): Verdict | Promise<Verdict>
  /**
   * Who is behind the request, anywhere.
   *
   * @throws {AuthError} as a guarded route would answer
   */
  identify(request: HttpRequest): Promise<Principal>
  /** For our own routes: only a signed-in user will do, also one who comes to set up the second factor that they lack. */
  identifySession(request: HttpRequest): Promise<SessionPrincipal>
}

/** What the guard needs besides its options, made once. */
interface Wired extends GuardOptions {
  demandsFactor: boolean
  forwarded: ReturnType<typeof createForwardedHeaders>
  scopeOf: ReturnType<typeof createScope>
}

export function createGuard(options: GuardOptions): Guard {
  const { settings } = options
  const wired: Wired = {
    ...options,
    demandsFactor: true,
    forwarded: createForwardedHeaders(settings),
    scopeOf: createScope(settings),
  }
  const ofOwnRoutes: Wired = { ...wired, demandsFactor: false }
  return {
    protect(request) {
      if (options.revocations.isFresh()) return decide(wired, request)
      return onceFresh(wired, request, () => decide(wired, request))
    },
    require(request, requirement, found) {
      if (options.revocations.isFresh()) return judge(wired, request, requirement, found)
      return onceFresh(wired, request, () => judge(wired, request, requirement, found))
    },
    open: (request) => pass(wired, request, null),
    async identify(request) {
      await requireFresh(wired)
      return identify(wired, request)
    },
    async identifySession(request) {
      await requireFresh(wired)
      const principal: Principal = identify(ofOwnRoutes, request)
      if (principal.kind !== 'session') throw new AuthError('forbidden')
      return principal
    },
  }
}

function onceFresh(wired: Wired, request: HttpRequest, run: () => Verdict): Promise<Verdict> {
  return requireFresh(wired).then(run, (error) => refuse(wired, request, toAuthError(error)))
}

/** Where the guard stood before it has rewritten the headers already; anywhere else that is still to be done. */
function judge(wired: Wired, request: HttpRequest, requirement: Requirement, found: Principal | null): Verdict {
  try {
    const principal = found ?? identify(wired, request)
    checkRequirement(principal, requirement, wired.clock.now())
    const outside = found === null && wired.scopeOf(request.path) === 'outside'
    return outside ? pass(wired, request, principal) : { ...untouched, principal }
  } catch (error) {
    return refuse(wired, request, toAuthError(error))
  }
}

function decide(wired: Wired, request: HttpRequest): Verdict {
  try {
    return pass(wired, request, identify(wired, request))
  } catch (error) {
    return refuse(wired, request, toAuthError(error))
  }
}

/**
 * The order of a decision: IP allow-list → origin rule → `authenticate` hook → API token → bearer token → cookie.
 * Exactly one credential decides; an invalid one is refused and never falls through to the next.
 * (Allow-list, hook and API tokens take their places here as they arrive.)
 */
function identify(wired: Wired, request: HttpRequest): SessionPrincipal {
  if (request.headers.authorization !== undefined && hasBearer(request)) {
    requireOwnOrigin(wired.settings, request, false)
    const token = bearerOf(request)
    if (token === null) throw new AuthError('unauthenticated')
    return checkSession(wired, token)
  }
  const token = readAccessCookie(wired, request)
  requireOwnOrigin(wired.settings, request, token !== null)
  if (token === null) throw new AuthError('unauthenticated')
  return checkSession(wired, token)
}

/** Whether a bearer token was sent at all, sound or not; other schemes are somebody else's (a proxy's Basic, for one). */
function hasBearer(request: HttpRequest): boolean {
  const { authorization } = request.headers
  if (typeof authorization === 'string' && /^bearer(?: |$)/i.test(authorization)) return true
  return singleHeader(request, 'authorization') === null
}

function readAccessCookie({ cookieNames }: Wired, request: HttpRequest): string | null {
  if (request.headers['x-auth-mode'] === 'token') return null
  return readCookie(request.headers.cookie, cookieNames.access)
}

function requireOwnOrigin(settings: Settings, request: HttpRequest, cookieDecides: boolean): void {
  const type = request.headers['content-type']
  const form = typeof type === 'string' && type.toLowerCase().startsWith('application/x-www-form-urlencoded')
  const upgrade = String(request.headers.upgrade ?? '').toLowerCase() === 'websocket'
  const fault = originFault(request, settings, { cookieDecides, form, upgrade })
  if (fault) throw new AuthError(fault)
}

function pass(wired: Wired, request: HttpRequest, principal: Principal | null): Verdict {
  return {
    kind: 'pass',
    principal,
    planted: plantedHeaders(request.headers),
    forwarded: wired.forwarded(wired.clientIp(request), wired.requestId()),
    responseHeaders: corsHeaders(request, wired.settings),
  }
}

function refuse(wired: Wired, request: HttpRequest, fault: AuthError): Verdict {
  const requestId = wired.requestId()
  logFault(wired.settings.logger, fault, requestId)
  const response = withHeaders(refusalFor(wired.settings, request, fault, requestId), {
    'x-request-id': requestId,
    ...transportHeaders(wired.settings),
    ...corsHeaders(request, wired.settings),
  })
  return { kind: 'answer', response }
}

/** A process that was paused, or whose store is down, tries one read and decides by that or not at all. */
async function requireFresh({ revocations }: Wired): Promise<void> {
  if (revocations.isFresh() || (await revocations.catchUp())) return
  throw new AuthError('store_unavailable', { retryAfterSeconds: 1 })
}

/** A person who opens a guarded page is led to the sign-in page; a program gets the problem. */
function refusalFor(settings: Settings, request: HttpRequest, fault: AuthError, requestId: string): HttpResponse {
  if (fault.status !== 401 || !isNavigation(request)) return problem(fault, requestId)
  const target = settings.redirectFailUrl
  const separator = target.includes('?') ? '&' : '?'
  return redirect(303, `${target}${separator}redirect=${encodeURIComponent(`${request.mount}${request.path}`)}`)
}

function isNavigation({ method, headers }: HttpRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}
