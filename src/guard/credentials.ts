import { AuthError } from '../errors.js'
import { type CookieNames, readCookie } from '../http/cookies.js'
import { type HttpRequest, singleHeader } from '../http/message.js'
import { originFault } from '../http/origin.js'
import { takeApiKey } from '../lib/api-key-query.js'
import type { ApiTokenPrincipal, JwtPrincipal, Principal } from '../model/principal.js'
import type { Settings } from '../settings.js'
import { checkSession, type SessionCheckPorts } from './session.js'

export interface CredentialPorts extends SessionCheckPorts {
  settings: Pick<Settings, 'accessTokenSeconds' | 'twoFactor' | 'apiTokens' | 'ownOrigins' | 'trustedOrigins'>
  cookieNames: CookieNames
  clientIp(request: HttpRequest): string | null
  /** Asked before any credential; null while everyone may. */
  allowList: { allows(ip: string | null): boolean } | null
  /** The application's own word: who it is, or null for no opinion. Throws `AuthError`; null where there is none. */
  hook: ((request: HttpRequest) => Promise<Principal | null>) | null
  apiTokens: ApiTokenCheck | null
  /** Bearer tokens of another issuer; null where there is none. */
  jwts: JwtCheck | null
}

export interface ApiTokenCheck {
  /** Whose token that is; at once for one that was seen before. Throws or rejects with `AuthError`. */
  check(token: string, request: HttpRequest): ApiTokenPrincipal | Promise<ApiTokenPrincipal>
}

export interface JwtCheck {
  /** Nothing else is a credential. */
  exclusive: boolean
  /** Whether its header, which nobody has checked, names another algorithm than ours. */
  isForeign(token: string): boolean
  check(token: string): JwtPrincipal | Promise<JwtPrincipal>
}

/**
 * Who is behind a request. The order: IP allow-list → origin rule → `authenticate` hook → API token → bearer token →
 * cookie. Exactly one credential decides; an invalid one is refused and never falls through to the next.
 *
 * @throws {AuthError} or rejects with one
 */
export function identify(ports: CredentialPorts, request: HttpRequest): Principal | Promise<Principal> {
  if (ports.allowList !== null && !ports.allowList.allows(ports.clientIp(request)))
    throw new AuthError('ip_not_allowed')
  const apiToken = ports.apiTokens === null ? undefined : readApiToken(ports, request)
  const bearer = apiToken === undefined ? readBearer(request) : undefined
  const cookie = apiToken === undefined && bearer === undefined ? readAccessCookie(ports, request) : null
  requireOwnOrigin(ports.settings, request, cookie !== null)

  const { hook } = ports
  if (hook === null) return byCredential(ports, request, apiToken, bearer, cookie)
  return hook(request).then((found) => found ?? byCredential(ports, request, apiToken, bearer, cookie))
}

/** `undefined`: none was sent. `null`: one was, but not so that it could count. */
type Sent = string | null | undefined

function byCredential(
  ports: CredentialPorts,
  request: HttpRequest,
  apiToken: Sent,
  bearer: Sent,
  cookie: string | null,
): Principal | Promise<Principal> {
  if (apiToken !== undefined && ports.apiTokens !== null) return byApiToken(ports, ports.apiTokens, request, apiToken)
  if (bearer !== undefined) return byBearer(ports, bearer)
  if (cookie === null || ports.jwts?.exclusive) throw new AuthError('unauthenticated')
  return checkSession(ports, cookie)
}

/** Hygiene for honest mistakes, before anything is looked up: a token in a page is everybody's. */
function byApiToken(
  { settings, jwts }: CredentialPorts,
  apiTokens: ApiTokenCheck,
  request: HttpRequest,
  token: string | null,
): Principal | Promise<Principal> {
  if (settings.apiTokens.refuseBrowsers && isFromBrowser(request)) throw new AuthError('api_token_in_browser')
  if (token === null || jwts?.exclusive) throw new AuthError('unauthenticated')
  return apiTokens.check(token, request)
}

function byBearer(ports: CredentialPorts, token: string | null): Principal | Promise<Principal> {
  if (token === null) throw new AuthError('unauthenticated')
  const { jwts } = ports
  if (jwts?.isForeign(token)) return jwts.check(token)
  if (jwts?.exclusive) throw new AuthError('unauthenticated')
  return checkSession(ports, token)
}

function isFromBrowser({ headers }: HttpRequest): boolean {
  const mode = headers['sec-fetch-mode']
  if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) return true
  return mode === 'navigate' || mode === 'no-cors'
}

/** The token of a request that was accepted for it. */
export function sentApiToken(request: HttpRequest): string | null {
  return singleHeader(request, 'x-apikey') ?? takeApiKey(request.query)?.values[0] ?? null
}

/** In the header, or in the URL where the settings allow that; in both, or twice, it is none. */
function readApiToken({ settings }: CredentialPorts, request: HttpRequest): Sent {
  const inHeader = request.headers['x-apikey'] !== undefined
  const inUrl = settings.apiTokens.inUrl ? takeApiKey(request.query) : null
  if (inUrl === null) return inHeader ? singleHeader(request, 'x-apikey') : undefined
  return inHeader || inUrl.values.length !== 1 ? null : (inUrl.values[0] ?? null)
}

/** Other schemes than Bearer are somebody else's: a proxy's Basic, for one. RFC 6750 §2.1. */
function readBearer(request: HttpRequest): Sent {
  if (request.headers.authorization === undefined) return undefined
  const header = singleHeader(request, 'authorization')
  if (header === null) return null
  if (!/^bearer(?: |$)/i.test(header)) return undefined
  return header.slice(7) || null
}

function readAccessCookie({ cookieNames }: CredentialPorts, request: HttpRequest): string | null {
  if (request.headers['x-auth-mode'] === 'token') return null
  return readCookie(request.headers.cookie, cookieNames.access)
}

function requireOwnOrigin(settings: CredentialPorts['settings'], request: HttpRequest, cookieDecides: boolean): void {
  const type = request.headers['content-type']
  const form = typeof type === 'string' && type.toLowerCase().startsWith('application/x-www-form-urlencoded')
  const upgrade = String(request.headers.upgrade ?? '').toLowerCase() === 'websocket'
  const fault = originFault(request, settings, { cookieDecides, form, upgrade })
  if (fault) throw new AuthError(fault)
}
