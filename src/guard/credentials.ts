import { AuthError } from '../errors.js'
import { type CookieNames, readCookie } from '../http/cookies.js'
import { type HttpRequest, singleHeader } from '../http/message.js'

import { isFromBrowser } from '../http/origin.js'
import type { OriginCheck } from '../http/origin-check.js'
import { takeApiKey } from '../lib/api-key-query.js'
import type { Moment, SharedClock } from '../lib/shared-clock.js'
import type { ApiTokenPrincipal, JwtPrincipal, Principal } from '../model/principal.js'
import type { Settings } from '../settings.js'
import type { AllowList } from './allow-list.js'
import type { HookCheck } from './hook.js'
import { checkBearer, checkCookie, recallSession, type SessionCheckPorts } from './session.js'

export interface CredentialPorts extends SessionCheckPorts {
  settings: Pick<Settings, 'accessTokenSeconds' | 'twoFactor' | 'admin' | 'apiTokens'>
  origins: Pick<OriginCheck, 'fault'>
  cookieNames: CookieNames
  clock: Pick<SharedClock, 'now' | 'moment'>
  clientIp(request: HttpRequest): string | null
  /** Rejects with `AuthError` when revocation data is stale. */
  requireFresh(): Promise<void>
  /** Checked before any credential. */
  allowList: Pick<AllowList, 'restricts' | 'allows'>
  /** Throws or rejects with `AuthError`; null on our own routes, which ask no hook. */
  hook: HookCheck | null
  apiTokens: ApiTokenCheck
  /** Bearer tokens of another issuer; null where there is none. */
  jwts: JwtCheck | null
}

export interface ApiTokenCheck {
  /** The principal of the token; synchronous for a token seen before. Throws or rejects with `AuthError`. */
  check(token: string, request: HttpRequest, at: Moment): ApiTokenPrincipal | Promise<ApiTokenPrincipal>
}

export interface JwtCheck {
  /** Whether no other credential counts. */
  isExclusive(): boolean
  /** The principal of an `Authorization` header that was checked before, else null. Throws `AuthError`. */
  recall(header: string, at: Moment): JwtPrincipal | null
  /** Whether the token's unverified header names another algorithm than ours. */
  isForeign(token: string): boolean
  /** The principal of a new token; `header` becomes its cache key. Rejects with `AuthError`. */
  check(token: string, header: string): Promise<JwtPrincipal>
}

/**
 * Finds the principal of a request. The order: IP allow-list → origin rule → `authenticate` hook → principal of the space host →
 * API token → bearer token → cookie. Exactly one credential decides; an invalid one is refused, and no other one is tried.
 *
 * @throws {AuthError} or rejects with one
 */
export function identify(ports: CredentialPorts, request: HttpRequest, at: Moment): Principal | Promise<Principal> {
  requireAllowed(ports, request)
  const apiToken = readApiToken(ports.settings.apiTokens, request)
  const bearer = apiToken === undefined ? readBearer(request) : undefined
  const cookieCounts = apiToken === undefined && bearer === undefined && request.hostPrincipal === undefined
  const cookie = cookieCounts ? readAccessCookie(ports, request) : null
  requireOwnOrigin(ports, request, cookie !== null)

  const own = ports.hook?.(request) ?? null
  const sent = { request, apiToken, bearer, cookie }
  if (own === null) return byCredential(ports, sent, at)
  return 'then' in own ? afterHook(ports, sent, own) : own
}

/** Checks everything again after the wait, since it may have changed. */
async function afterHook(
  ports: CredentialPorts,
  sent: Credentials,
  own: Promise<Principal | null>,
): Promise<Principal> {
  const found = await own
  await ports.requireFresh()
  requireAllowed(ports, sent.request)
  return found ?? byCredential(ports, sent, ports.clock.moment())
}

/** @throws {AuthError} `ip_not_allowed` */
export function requireAllowed(
  { allowList, clientIp }: Pick<CredentialPorts, 'allowList' | 'clientIp'>,
  request: HttpRequest,
): void {
  if (!allowList.restricts() || allowList.allows(clientIp(request))) return
  const known = clientIp(request) !== null
  throw new AuthError('ip_not_allowed', {
    explain: known ? 'allow-list: not on it' : 'allow-list: the client address cannot be known',
  })
}

interface Credentials {
  request: HttpRequest
  apiToken: Sent
  /**
   * `Bearer ` and the token, with the scheme in this spelling. The cache uses the whole text as its key, which saves cutting
   * the token out of every header.
   */
  bearer: Sent
  cookie: string | null
}

function byCredential(
  ports: CredentialPorts,
  { request, apiToken, bearer, cookie }: Credentials,
  at: Moment,
): Principal | Promise<Principal> {
  // The host has checked API tokens and JWTs against the space; this store does not know them.
  if (request.hostPrincipal !== undefined) return request.hostPrincipal
  if (apiToken !== undefined) return byApiToken(ports, request, apiToken, at)
  if (bearer !== undefined) return byBearer(ports, bearer, at)
  if (ports.jwts?.isExclusive()) throw exclusively()
  if (cookie === null) throw new AuthError('unauthenticated', { explain: explainNoCookie(ports, request) })
  return checkCookie(ports, cookie, at)
}

/** Refuses API tokens from browsers before any look-up: every visitor of a page could read a token in it. */
export function byApiToken(
  {
    settings,
    jwts,
    apiTokens,
  }: Pick<CredentialPorts, 'jwts' | 'apiTokens'> & { settings: Pick<Settings, 'apiTokens'> },
  request: HttpRequest,
  token: string | null,
  at: Moment,
): ApiTokenPrincipal | Promise<ApiTokenPrincipal> {
  if (settings.apiTokens.refuseBrowsers && isFromBrowser(request)) throw new AuthError('api_token_in_browser')
  if (jwts?.isExclusive()) throw exclusively()
  if (token === null) throw new AuthError('unauthenticated', { explain: 'API token: sent more than once' })
  return apiTokens.check(token, request, at)
}

/** Cached tokens first. Only for a new token does its own header choose the verifier. */
function byBearer(ports: CredentialPorts, header: string | null, at: Moment): Principal | Promise<Principal> {
  if (header === null) throw new AuthError('unauthenticated', { explain: 'bearer: empty, or sent more than once' })
  const { jwts } = ports
  const session = jwts?.isExclusive() ? null : recallSession(ports, header, at)
  if (session !== null) return session
  const other = jwts === null ? null : jwts.recall(header, at)
  if (other !== null) return other
  const token = header.slice(scheme.length)
  if (jwts?.isForeign(token)) return jwts.check(token, header)
  if (jwts?.isExclusive()) throw exclusively()
  return checkBearer(ports, token, header, at)
}

export function exclusively(): AuthError {
  return new AuthError('unauthenticated', { explain: 'jwks.exclusive: only bearer tokens of the other issuer count' })
}

function explainNoCookie({ cookieNames }: CredentialPorts, { headers }: HttpRequest): string {
  if (headers['x-auth-mode'] === 'token') return 'no credential: cookies do not count with X-Auth-Mode'
  const sent = [headers.cookie].flat().some((line) => line?.includes(`${cookieNames.access}=`))
  return sent ? 'cookie: empty, or sent more than once' : 'no credential was sent'
}

function readAccessCookie({ cookieNames }: CredentialPorts, request: HttpRequest): string | null {
  if (request.headers['x-auth-mode'] === 'token') return null
  return readCookie(request.headers.cookie, cookieNames.access)
}

function requireOwnOrigin({ origins }: CredentialPorts, request: HttpRequest, cookieDecides: boolean): void {
  const type = request.headers['content-type']
  const form = typeof type === 'string' && type.toLowerCase().startsWith('application/x-www-form-urlencoded')
  const asked = request.headers.upgrade
  const upgrade = asked !== undefined && String(asked).toLowerCase() === 'websocket'
  const fault = origins.fault(request, { cookieDecides, form, upgrade })
  if (fault) throw fault
}

/** `undefined`: none was sent. `null`: one was sent, but in a form that does not count. */
export type Sent = string | null | undefined

/** The API token of a request that passed with it, which therefore contains it once. */
export function sentApiToken({ headers, query }: HttpRequest): string | null {
  const header = headers['x-apikey']
  return typeof header === 'string' ? header : (takeApiKey(query)?.values[0] ?? null)
}

/** From the header, or from the URL where the settings allow it. A token in both, or sent twice, does not count. */
export function readApiToken({ inUrl: mayBeInUrl }: Settings['apiTokens'], request: HttpRequest): Sent {
  const header = request.headers['x-apikey']
  const inHeader = header !== undefined
  const inUrl = mayBeInUrl ? takeApiKey(request.query) : null
  if (inUrl === null) return inHeader ? singleHeader(request, 'x-apikey', header) : undefined
  return inHeader || inUrl.values.length !== 1 ? null : (inUrl.values[0] ?? null)
}

/** With the blank behind it. */
export const scheme = 'Bearer '

/**
 * `Bearer ` and the token, with the scheme in this spelling. Ignores other schemes than Bearer, such as a proxy's Basic (RFC 6750 §2.1).
 */
export function readBearer(request: HttpRequest): Sent {
  const { authorization } = request.headers
  if (authorization === undefined) return undefined
  const header = singleHeader(request, 'authorization', authorization)
  if (header === null) return null
  // The common spelling, checked without a regular expression.
  const usual = header.slice(0, scheme.length) === scheme
  if (!usual && !/^bearer(?: |$)/i.test(header)) return undefined
  if (header.length <= scheme.length) return null
  return usual ? header : scheme + header.slice(scheme.length)
}
