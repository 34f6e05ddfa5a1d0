import { AuthError } from '../errors.js'
import { corsHeaders } from '../http/cors.js'
import { logFault, toAuthError } from '../http/faults.js'
import { allowedReturnTo, enrolUrl, withReturnTo } from '../http/landing.js'
import type { HttpRequest, HttpResponse } from '../http/message.js'
import { explanation, problem, redirect, transportHeaders, withHeaders } from '../http/problem.js'
import { authPathOf, isAtSignIn, outerPath } from '../http/refusal.js'
import { privately, untouched, type Verdict } from '../http/verdict.js'
import { takeApiKey } from '../lib/api-key-query.js'
import type { Moment } from '../lib/shared-clock.js'
import type { Principal, SessionPrincipal } from '../model/principal.js'
import type { Requirement } from '../settings/requirement.js'
import type { Settings } from '../settings.js'
import { type AccessFeed, isFresh, requireFresh } from './access-settings.js'
import { type CredentialPorts, identify, requireAllowed, sentApiToken } from './credentials.js'
import type { Decisions } from './decisions.js'
import { createForwardedHeaders, findSpoofedHeaders } from './forwarded-headers.js'
import { checkRequirement } from './require.js'
import type { Revocations } from './revocations.js'
import type { ScopeOf } from './scope.js'

export interface GuardOptions extends Omit<CredentialPorts, 'demandsFactor' | 'requireFresh'> {
  settings: Settings
  scopeOf: ScopeOf
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow' | 'isFresh' | 'catchUp'>
  accessFeed: Pick<AccessFeed, 'isCurrent' | 'catchUp'>
  requestId(): string
  decisions: Decisions
}

export interface Guard {
  /** Judges a request under a guarded prefix. Synchronous while revocation data is fresh. */
  protect(request: HttpRequest): Verdict | Promise<Verdict>
  /** Passes a request to a public route without credentials, and removes spoofed headers. */
  open(request: HttpRequest): Verdict
  /**
   * Checks the requirement of a single route against the principal found earlier, or else against the one the request
   * identifies. Synchronous like `protect`.
   */
  require(request: HttpRequest, requirement: Requirement, found: Principal | null): Verdict | Promise<Verdict>
  /**
   * Finds the principal of a request to any path.
   *
   * @throws {AuthError} what a guarded route would answer
   */
  identify(request: HttpRequest): Promise<Principal>
  /** For our own routes: accepts sessions only, including one that still lacks a required second factor. */
  identifySession(request: HttpRequest): Promise<SessionPrincipal>
  /** Checks the IP allow-list alone. Throws `AuthError`. */
  requireAllowed(request: HttpRequest): void
}

/** What the guard needs besides its options, made once. */
interface Wired extends GuardOptions, Pick<CredentialPorts, 'demandsFactor' | 'requireFresh'> {
  forwarded: ReturnType<typeof createForwardedHeaders>
  /** The principals that this guard has found. Nothing else in `req.auth` counts, however it looks. */
  made: WeakSet<object>
}

/** What `pass` needs to prepare a request for the application. */
type Passing = Pick<Wired, 'settings' | 'clientIp' | 'requestId' | 'forwarded'>

export function createGuard(options: GuardOptions): Guard {
  const { settings } = options
  const wired: Wired = {
    ...options,
    demandsFactor: true,
    requireFresh: () => requireFresh(options),
    forwarded: createForwardedHeaders(settings),
    made: new WeakSet(),
  }
  // Hooks and foreign tokens give access to the API. Account routes need a session of ours.
  const ofOwnRoutes: Wired = { ...wired, demandsFactor: false, hook: null, jwts: null }
  return {
    protect(request) {
      return whenFresh(wired, request, decide)
    },
    require(request, requirement, found) {
      return whenFresh(wired, request, (...asked) => judge(...asked, requirement, found))
    },
    open(request) {
      try {
        return pass(wired, request, null)
      } catch (error) {
        return refuse(wired, request, toAuthError(error))
      }
    },
    async identify(request) {
      await wired.requireFresh()
      return identify(wired, request, wired.clock.moment())
    },
    async identifySession(request) {
      await wired.requireFresh()
      const principal = await identify(ofOwnRoutes, request, wired.clock.moment())
      if (principal.kind !== 'session') throw new AuthError('forbidden')
      return principal
    },
    requireAllowed: (request) => requireAllowed(wired, request),
  }
}

/** `open` alone, for the time before the store is open: it needs no credentials. */
export function createOpen(options: Pick<GuardOptions, 'settings' | 'clientIp' | 'requestId'>): Guard['open'] {
  const passing = { ...options, forwarded: createForwardedHeaders(options.settings) }
  return (request) => pass(passing, request, null)
}

type Decide = (wired: Wired, request: HttpRequest, at: Moment) => Verdict | Promise<Verdict>

/** Decides with fresh revocation data, and by the clocks at that moment. */
function whenFresh(wired: Wired, request: HttpRequest, run: Decide): Verdict | Promise<Verdict> {
  const at = wired.clock.moment()
  if (isFresh(wired, at)) return run(wired, request, at)
  return wired.requireFresh().then(
    () => run(wired, request, wired.clock.moment()),
    (error: unknown) => refuse(wired, request, toAuthError(error)),
  )
}

/** Behind the guard the request is already prepared; outside the guarded prefixes that still has to happen. */
function judge(
  wired: Wired,
  request: HttpRequest,
  at: Moment,
  requirement: Requirement,
  left: unknown,
): Verdict | Promise<Verdict> {
  const found = isOurs(wired, left) ? left : null
  const outside = found === null && wired.scopeOf(request.path) === 'outside'
  return settle(wired, request, at, found, (_, given, principal) => {
    const { urlPath, basePath } = wired.settings
    const reauthenticate = `${urlPath}${basePath}/reauthenticate`
    checkRequirement(principal, requirement, { now: wired.clock.now(), reauthenticate })
    return outside ? pass(wired, given, principal) : { ...untouched, principal }
  })
}

/** Other middleware sets `req.auth` too, to Basic credentials or claims of a JWT. Only our own principals count. */
function isOurs({ made }: Wired, left: unknown): left is Principal {
  return typeof left === 'object' && left !== null && made.has(left)
}

function decide(wired: Wired, request: HttpRequest, at: Moment): Verdict | Promise<Verdict> {
  return settle(wired, request, at, null, admit)
}

function admit(wired: Wired, request: HttpRequest, principal: Principal): Verdict {
  wired.decisions.passed[principal.kind] += 1
  return pass(wired, request, principal)
}

type Accept = (wired: Wired, request: HttpRequest, principal: Principal) => Verdict

/** Synchronous when the principal is found in memory. */
function settle(
  wired: Wired,
  request: HttpRequest,
  at: Moment,
  found: Principal | null,
  accept: Accept,
): Verdict | Promise<Verdict> {
  try {
    const principal = found ?? identify(wired, request, at)
    if (!('then' in principal)) return accept(wired, request, noted(wired, principal))
    return principal
      .then((identified) => accept(wired, request, noted(wired, identified)))
      .catch((error: unknown) => refuse(wired, request, toAuthError(error)))
  } catch (error) {
    return refuse(wired, request, toAuthError(error))
  }
}

function noted({ made }: Wired, principal: Principal): Principal {
  made.add(principal)
  return principal
}

function pass(wired: Passing, request: HttpRequest, principal: Principal | null): Verdict {
  const apiKey = principal?.kind === 'apiToken' ? sentApiToken(request) : null
  const cors = corsHeaders(request, wired.settings)
  const added = apiKey === null ? actorHeader(principal) : privately
  return {
    kind: 'pass',
    principal,
    spoofedHeaders: findSpoofedHeaders(request.headers),
    query: wired.settings.apiTokens.inUrl ? (takeApiKey(request.query)?.rest ?? null) : null,
    forwarded: wired.forwarded(wired.clientIp(request), wired.requestId(), apiKey),
    responseHeaders: added === null ? cors : cors === null ? added : { ...added, ...cors },
  }
}

/** Shows that the response is for an administrator who impersonates the user. */
function actorHeader(principal: Principal | null): Readonly<Record<string, string>> | null {
  const actor = principal?.kind === 'session' ? principal.actor : null
  return actor && { 'x-impersonated-by': actor.userId }
}

function refuse(wired: Wired, request: HttpRequest, fault: AuthError): Verdict {
  const { refused } = wired.decisions
  refused[fault.code] = (refused[fault.code] ?? 0) + 1
  const requestId = wired.requestId()
  logFault(wired.settings.logger, fault, requestId)
  const response = withHeaders(refusalFor(wired, request, fault, requestId), {
    'x-request-id': requestId,
    ...explanation(wired.settings, fault),
    ...transportHeaders(wired.settings),
    ...corsHeaders(request, wired.settings),
  })
  return { kind: 'answer', response }
}

/** Redirects a page view to sign-in or to the set-up of a second factor; every other request gets a problem response. */
function refusalFor(
  { settings, jwts }: Pick<Wired, 'settings' | 'jwts'>,
  request: HttpRequest,
  fault: AuthError,
  requestId: string,
): HttpResponse {
  if (!isNavigation(request)) return problem(fault, requestId)
  // A redirect would not help: page views cannot pass here, or the sign-in page itself needs a session and would loop.
  if (fault.status === 401 && (jwts?.isExclusive() || isAtSignIn(settings, request))) return problem(fault, requestId)
  // Only an allowed landing is passed on, since the sign-in page may be the application's own (ATK-094).
  const back = allowedReturnTo(settings, outerPath(settings, request, request.path)) ?? ''
  if (fault.status === 401) return redirect(303, withReturnTo(settings.redirectFailUrl, back))
  if (fault.code !== 'two_factor_enrolment_required') return problem(fault, requestId)
  return redirect(303, enrolUrl(authPathOf(settings, request), back))
}

function isNavigation({ method, headers }: HttpRequest): boolean {
  return method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}
