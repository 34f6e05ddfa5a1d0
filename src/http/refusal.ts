import { AuthError, type ErrorCode } from '../errors.js'
import { memberOf } from '../lib/members.js'
import { withQuery } from '../lib/url.js'
import type { Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
import { allowedReturnTo, withReturnTo } from './landing.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { isForEyes } from './navigation.js'
import { html, problem, redirect } from './problem.js'
import { changedQuery, queryOf } from './query.js'
import type { Acting, Route } from './route.js'
import { filledPath } from './route-table.js'

/** A refused request, as far as it was read. */
export interface Refused {
  request: HttpRequest
  requestId: string
  fault: AuthError
  /** A form of our own pages. */
  form: boolean
  route: Route | null
  /** Values of the `:name` segments of its path. */
  params: Readonly<Record<string, string>>
  body: unknown
  /** The return address of its form, already checked. */
  returnTo: string | null
  /** Further headers, such as `allow`. */
  headers: HttpResponse['headers']
}

interface RefusalOptions {
  settings: Settings
  templates: Templates
  /** For the banner of the error page. Without it, there is none. */
  acting?(request: HttpRequest): Acting | null
}

/** Redirects a form back to its page, shows browsers an error page, and answers programs with a problem. Never rejects. */
export async function refusal(options: RefusalOptions, refused: Refused): Promise<HttpResponse> {
  const { request, fault, requestId, headers } = refused
  const back = signInAgain(options, refused)
  if (back !== null && !isAtSignIn(options.settings, request)) return toSignIn(options, refused, back)
  // A form from another site is never redirected: it gets the plain 403 (ATK-078).
  if (refused.form && refused.route !== null && fault.code !== 'csrf_rejected') return ledBack(options, refused)
  const response = problem(inWords(refused), requestId, headers)
  return isForEyes(request) ? errorPage(options, refused, response) : response
}

const proofSentences = {
  link: 'This link is not valid. It may have been used, replaced or expired.',
  code: 'This code is wrong, or it has expired.',
}

/** `invalid_token` with a sentence about the link or the code, whichever was sent. */
function inWords(refused: Refused): AuthError {
  const { fault } = refused
  const { proof } = proofOf(refused)
  if (fault.code !== 'invalid_token' || proof === undefined || fault.details.detail !== undefined) return fault
  return new AuthError(fault.code, { ...fault.details, detail: proofSentences[proof] })
}

/** The same for a request whose body was not read. */
export function refusalUnread(
  options: RefusalOptions,
  refused: Pick<Refused, 'request' | 'requestId' | 'fault'>,
): Promise<HttpResponse> {
  return refusal(options, { ...refused, form: false, route: null, params: {}, body: null, returnTo: null, headers: {} })
}

/** The path of the auth routes as the client sees it, with the prefix of a mount or proxy. Cookies need it. */
export function authPathOf(settings: Pick<Settings, 'urlPath' | 'basePath'>, request: HttpRequest): string {
  return outerPath(settings, request, settings.basePath)
}

/** A path as the client sees it, with the prefix that a mount or proxy removes. */
export function outerPath(
  { urlPath }: Pick<Settings, 'urlPath'>,
  { mount }: Pick<HttpRequest, 'mount'>,
  path: string,
): string {
  return `${mount === '' ? urlPath : mount}${path}`
}

/**
 * Whether the request is for the sign-in page itself, which may be a guarded page of the application. A redirect to it would
 * loop.
 */
export function isAtSignIn(
  settings: Pick<Settings, 'redirectFailUrl' | 'origin' | 'ownOrigins' | 'urlPath'>,
  request: Pick<HttpRequest, 'mount' | 'path' | 'query'>,
): boolean {
  const { origin, pathname, search } = new URL(settings.redirectFailUrl, settings.origin)
  if (!settings.ownOrigins.includes(origin) || !request.query.startsWith(search.slice(1))) return false
  const here = outerPath(settings, request, request.path)
  // Outside its mount, the root path has no slash.
  return here === pathname || (request.path === '/' && here === `${pathname}/`)
}

function ledBack({ settings }: RefusalOptions, refused: Refused): HttpResponse {
  const { request, fault, route, requestId } = refused
  const response = {
    ...keptFields(refused),
    ...reasonsOf(fault),
    ...mailInQuery(fault.details.mail?.mailSent ?? null),
    ...wrongFields(settings, refused),
    ...wrongAdminFields(refused),
    ...(fault.code === 'invalid_token' ? proofOf(refused) : {}),
    ...(route?.page === undefined && fault.status >= 500 ? { request: requestId } : {}),
  }
  return redirect(303, `${authPathOf(settings, request)}${pageWith(refused, fault.code, response)}`)
}

/** Tells the page that shows `email_not_verified` whether a new mail was sent; empty where no mail was asked for. */
export function mailInQuery(mailSent: boolean | null): Record<string, string> {
  return mailSent === null ? {} : { mail: mailSent ? 'sent' : 'none' }
}

/** The reasons that pages have sentences for: a weak password, an invalid email address. */
function reasonsOf({ code, details }: AuthError): { reasons?: string } {
  const badEmail = code === 'invalid_request' && details.errors?.some(({ path }) => path === 'email')
  const ofPassword = details.reasons ?? []
  const heading = badEmail && ofPassword.length > 0 ? ['weak_password'] : []
  const all = [...(badEmail ? ['invalid_email'] : []), ...heading, ...ofPassword]
  return all.length === 0 ? {} : { reasons: all.join(',') }
}

/** Whether a mailed link or a mailed code was refused: pages have a sentence for each. Empty where neither is mailed. */
function proofOf({ route, body }: Pick<Refused, 'route' | 'body'>): { proof?: 'link' | 'code' } {
  if (!route?.keepsOnError?.includes('token')) return {}
  return { proof: memberOf(body, 'token') === undefined ? 'code' : 'link' }
}

/** The names of the extra fields at fault, never what the schema says of them, which could quote a value. */
function wrongFields({ registration }: Settings, { fault }: Refused): Record<string, string> {
  const paths = new Set((fault.details.errors ?? []).map(({ path }) => path))
  const names = registration.inputs.map(({ name }) => name).filter((name) => paths.has(name))
  return names.length === 0 ? {} : { fields: names.join(',') }
}

/** The names of the fields at fault in a form of an admin page. Its page has a sentence for each. */
function wrongAdminFields({ route, fault }: Refused): Record<string, string> {
  if (!route?.control) return {}
  const names = new Set((fault.details.errors ?? []).map(({ path }) => path).filter((path) => /^\w{1,32}$/.test(path)))
  return names.size === 0 ? {} : { fields: [...names].join(',') }
}

/** The page of the form, the section that contains it, and the error to show there. */
function pageWith({ route, params, returnTo }: Refused, error: string, response: Record<string, string> = {}): string {
  const section = route?.section
  const redirected = returnTo === null ? {} : { redirect: returnTo }
  const at = section === undefined ? {} : { at: section }
  const query = new URLSearchParams({ ...redirected, error, ...response, ...at })
  return `${filledPath(route?.page ?? '/error', params)}?${query}${section === undefined ? '' : `#${section}`}`
}

/** Passes the reason along when the session has ended: to the sign-in page its token may still look valid. */
function toSignIn({ settings }: RefusalOptions, { request, fault }: Refused, back: string): HttpResponse {
  const signIn = withReturnTo(settings.redirectFailUrl, `${authPathOf(settings, request)}${back}`)
  const ended = fault.code === 'token_revoked' || fault.code === 'session_expired'
  return redirect(303, ended ? withQuery(signIn, { error: fault.code }) : signIn)
}

/** The refusals of requests without a session. */
const signedOutCodes = new Set<ErrorCode>(['unauthenticated', 'token_expired', 'token_revoked', 'session_expired'])

/** Where a user who was signed out meanwhile continues after sign-in. The form had no effect. Null: another case. */
function signInAgain({ settings }: RefusalOptions, refused: Refused): string | null {
  const { request, route, params, fault, form } = refused
  if (!route?.signedIn || !signedOutCodes.has(fault.code)) return null
  if (form) return pageWith(refused, 'session_ended')
  if (route.method !== 'GET' || route.answers !== undefined) return null
  // Only an allowed return address is passed on.
  const [redirect = null, ...more] = queryOf(request).all('redirect')
  const returnTo = more.length > 0 ? null : allowedReturnTo(settings, redirect)
  return `${filledPath(route.path, params)}${changedQuery(request, { redirect: returnTo })}`
}

/** Fields that the page gets again. The token of an invalid link is dropped. */
function keptFields({ route, body, fault }: Refused): Record<string, string> {
  if (fault.code === 'invalid_token') return {}
  const fields = (route?.keepsOnError ?? []).map((name) => [name, memberOf(body, name)])
  return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string' && value.length <= 128))
}

/** What the layout of pages needs for the banner of an impersonation. */
export function bannerValues(acting: Acting | null): { acting: boolean; actingAs: string } {
  return { acting: acting !== null, actingAs: acting?.email ?? '' }
}

/** An error page with the status and headers of the problem, or the problem itself when the page fails to render. */
async function errorPage(
  { settings, templates, acting }: RefusalOptions,
  { request, fault, requestId }: Refused,
  response: HttpResponse,
): Promise<HttpResponse> {
  const { 'content-type': _type, ...headers } = response.headers
  try {
    await templates.prepare()
    // The request id helps only to report a fault of the server.
    const shownId = fault.status >= 500 ? requestId : ''
    const notFound = fault.code === 'not_found'
    const values = {
      error: notFound ? '' : fault.code,
      notFound,
      requestId: shownId,
      startUrl: settings.redirectSuccessUrl,
      ...bannerValues(acting?.(request) ?? null),
    }
    const page = templates.page('error', { ...values, basePath: authPathOf(settings, request) })
    return html(fault.status, page, { headers })
  } catch {
    return response
  }
}
