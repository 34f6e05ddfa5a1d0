import { AuthError } from '../errors.js'
import { logFault, toAuthError } from '../http/faults.js'
import { type HttpRequest, singleHeader } from '../http/message.js'
import { explanation, problem, transportHeaders, withHeaders } from '../http/problem.js'
import { privately, type Verdict } from '../http/verdict.js'
import { takeApiKey } from '../lib/api-key-query.js'
import type { Moment, SharedClock } from '../lib/shared-clock.js'
import type { ApiTokenPrincipal, JwtPrincipal } from '../model/principal.js'
import type { Settings } from '../settings.js'
import { type FreshParts, isFresh, requireFresh } from './access-settings.js'
import type { AllowList } from './allow-list.js'
import {
  type ApiTokenCheck,
  byApiToken,
  exclusively,
  type JwtCheck,
  readApiToken,
  readBearer,
  requireAllowed,
  scheme,
  sentApiToken,
} from './credentials.js'
import { createForwardedHeaders, findSpoofedHeaders } from './forwarded-headers.js'
import type { Jwts } from './jwks.js'

export interface SpaceGuardOptions extends FreshParts {
  /** `origin`: that of the spaces' `baseUrl`. */
  settings: Pick<Settings, 'origin' | 'development' | 'logger'>
  clock: Pick<SharedClock, 'now' | 'moment'>
  allowList: Pick<AllowList, 'restricts' | 'allows'>
  apiTokens: ApiTokenCheck
  jwts: JwtCheck & Pick<Jwts, 'keySet'>
  clientIp(request: HttpRequest): string | null
  requestId(): string
}

/** Never throws, never rejects. */
type Decide = (request: HttpRequest) => Verdict | Promise<Verdict>

type SpacePrincipal = ApiTokenPrincipal | JwtPrincipal

interface Wired extends SpaceGuardOptions {
  forwarded: ReturnType<typeof createForwardedHeaders>
}

/** The setting `apiTokens` of a space: the specification allows both forms, and no token in a page. */
const apiTokens: Settings['apiTokens'] = { inUrl: true, refuseBrowsers: true }

/**
 * The guard in front of a space's application. The order: IP allow-list → API token → bearer token of the other issuer. One
 * that was sent and is invalid is refused. Cookies and bearer tokens of the application itself are not looked at: such a
 * request passes without a principal, and the application's auth hooks decide.
 *
 * Synchronous while revocation data is fresh and the credential is cached; 503 while it is stale.
 */
export function createSpaceDecision(options: SpaceGuardOptions): Decide {
  const wired: Wired = { ...options, forwarded: createForwardedHeaders(options.settings) }
  return (request) => {
    const at = wired.clock.moment()
    if (isFresh(wired, at)) return decide(wired, request, at)
    return requireFresh(wired).then(
      () => decide(wired, request, wired.clock.moment()),
      (error: unknown) => refuse(wired, toAuthError(error)),
    )
  }
}

function decide(wired: Wired, request: HttpRequest, at: Moment): Verdict | Promise<Verdict> {
  try {
    const principal = identify(wired, request, at)
    if (principal === null || !('then' in principal)) return pass(wired, request, principal)
    return principal
      .then((found) => pass(wired, request, found))
      .catch((error: unknown) => refuse(wired, toAuthError(error)))
  } catch (error) {
    return refuse(wired, toAuthError(error))
  }
}

/** null: the application decides. @throws {AuthError} or rejects with one */
function identify(wired: Wired, request: HttpRequest, at: Moment): SpacePrincipal | Promise<SpacePrincipal> | null {
  requireAllowed(wired, request)
  const apiToken = readApiToken(apiTokens, request)
  if (apiToken !== undefined) return byApiToken({ ...wired, settings: { apiTokens } }, request, apiToken, at)
  const found = byBearer(wired, request, at)
  if (found === null && wired.jwts.isExclusive()) throw exclusively()
  return found
}

/** null: no bearer token, or one that may be the application's own. */
function byBearer({ jwts }: Wired, request: HttpRequest, at: Moment): JwtPrincipal | Promise<JwtPrincipal> | null {
  const header = readBearer(request)
  if (header === undefined) return null
  if (header === null) {
    const isTwice = singleHeader(request, 'authorization') === null
    if (!isTwice || jwts.keySet() === null) return null
    throw new AuthError('unauthenticated', { explain: 'bearer: sent more than once' })
  }
  const known = jwts.recall(header, at)
  if (known !== null) return known
  const token = header.slice(scheme.length)
  return jwts.isForeign(token) ? jwts.check(token, header) : null
}

function pass(wired: Wired, request: HttpRequest, principal: SpacePrincipal | null): Verdict {
  const apiKey = principal?.kind === 'apiToken' ? sentApiToken(request) : null
  return {
    kind: 'pass',
    principal,
    spoofedHeaders: findSpoofedHeaders(request.headers),
    query: takeApiKey(request.query)?.rest ?? null,
    forwarded: wired.forwarded(wired.clientIp(request), wired.requestId(), apiKey),
    responseHeaders: apiKey === null ? null : privately,
  }
}

function refuse({ settings, requestId }: Wired, fault: AuthError): Verdict {
  const id = requestId()
  logFault(settings.logger, fault, id)
  const headers = { ...explanation(settings, fault), ...transportHeaders(settings) }
  return { kind: 'answer', response: withHeaders(problem(fault, id), headers) }
}
