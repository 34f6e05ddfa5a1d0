import type { AuthError, ErrorCode } from '../errors.js'
import { withQuery } from '../lib/url.js'
import type { Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
import { allowedReturnTo, withReturnTo } from './landing.js'
import type { HttpRequest, HttpResponse } from './message.js'
import { isForEyes } from './navigation.js'
import { html, problem, redirect } from './problem.js'
import type { Route } from './route.js'

/** What is known of a request by the time it is refused. */
export interface Refused {
  request: HttpRequest
  requestId: string
  fault: AuthError
  /** A form of our own pages. */
  form: boolean
  route: Route | null
  body: unknown
  /** Where its form was to end, checked. */
  returnTo: string | null
  /** What only the caller knows, such as `allow`. */
  headers: HttpResponse['headers']
}

interface RefusalOptions {
  settings: Settings
  templates: Templates
}

/** A form is led back to its page, a person gets a page, a program a problem. Never rejects. */
export async function refusal(options: RefusalOptions, refused: Refused): Promise<HttpResponse> {
  const { request, fault, requestId, headers } = refused
  const back = signInAgain(options, refused)
  if (back !== null && !isAtSignIn(options.settings, request)) return toSignIn(options, refused, back)
  // A form that is not from our own pages is nobody's to lead on: it gets the plain 403 (ATK-078).
  if (refused.form && refused.route !== null && fault.code !== 'csrf_rejected') return ledBack(options, refused)
  const response = problem(fault, requestId, headers)
  return isForEyes(request) ? errorPage(options, refused, response) : response
}

/** The same for a request of which nothing was read but where it goes. */
export function refusalUnread(
  options: RefusalOptions,
  refused: Pick<Refused, 'request' | 'requestId' | 'fault'>,
): Promise<HttpResponse> {
  return refusal(options, { ...refused, form: false, route: null, body: null, returnTo: null, headers: {} })
}

/** Where the auth routes lie for the client: behind a mount or a proxy path their cookies need that prefix. */
export function authPathOf(settings: Pick<Settings, 'urlPath' | 'basePath'>, request: HttpRequest): string {
  return outerPath(settings, request, settings.basePath)
}

/** A path as the client knows it, with what a mount or a proxy takes off its front. */
export function outerPath(
  { urlPath }: Pick<Settings, 'urlPath'>,
  { mount }: Pick<HttpRequest, 'mount'>,
  path: string,
): string {
  return `${mount === '' ? urlPath : mount}${path}`
}

/**
 * Whether the request came where whoever is not signed in is led to: a sign-in page that asks for a session itself. Led
 * there once more, a browser would go in circles.
 */
export function isAtSignIn(
  settings: Pick<Settings, 'redirectFailUrl' | 'origin' | 'ownOrigins' | 'urlPath'>,
  request: Pick<HttpRequest, 'mount' | 'path' | 'query'>,
): boolean {
  const { origin, pathname, search } = new URL(settings.redirectFailUrl, settings.origin)
  if (!settings.ownOrigins.includes(origin) || !request.query.startsWith(search.slice(1))) return false
  const here = outerPath(settings, request, request.path)
  // A mount's own root has no slash outside.
  return here === pathname || (request.path === '/' && here === `${pathname}/`)
}

function ledBack({ settings }: RefusalOptions, refused: Refused): HttpResponse {
  const { request, fault, route, requestId } = refused
  const response = {
    ...keptFields(refused),
    ...(fault.details.reasons ? { reasons: fault.details.reasons.join(',') } : {}),
    ...(route?.page === undefined && fault.status >= 500 ? { request: requestId } : {}),
  }
  return redirect(303, `${authPathOf(settings, request)}${pageWith(refused, fault.code, response)}`)
}

/** Where the form stands, or rather the part of the page, and what it is to tell. */
function pageWith({ route, returnTo }: Refused, error: string, response: Record<string, string> = {}): string {
  const section = route?.section
  const redirected = returnTo === null ? {} : { redirect: returnTo }
  const at = section === undefined ? {} : { at: section }
  const query = new URLSearchParams({ ...redirected, error, ...response, ...at })
  return `${route?.page ?? '/error'}?${query}${section === undefined ? '' : `#${section}`}`
}

/** A session that has ended is told of there: to a sign-in page that has not heard of it yet, its token looks alive. */
function toSignIn({ settings }: RefusalOptions, { request, fault }: Refused, back: string): HttpResponse {
  const signIn = withReturnTo(settings.redirectFailUrl, `${authPathOf(settings, request)}${back}`)
  const ended = fault.code === 'token_revoked' || fault.code === 'session_expired'
  return redirect(303, ended ? withQuery(signIn, { error: fault.code }) : signIn)
}

/** What a request is refused with that nobody signed in has sent. */
const signedOutCodes = new Set<ErrorCode>(['unauthenticated', 'token_expired', 'token_revoked', 'session_expired'])

/** Where whoever was signed out meanwhile goes on after signing in; a form has done nothing then. Null: not the case. */
function signInAgain({ settings }: RefusalOptions, refused: Refused): string | null {
  const { request, route, fault, form } = refused
  if (!route?.signedIn || !signedOutCodes.has(fault.code)) return null
  if (form) return pageWith(refused, 'session_ended')
  if (route.method !== 'GET' || route.answers !== undefined) return null
  const query = new URLSearchParams(request.query)
  // What may not be a landing is not even taken along.
  if (allowedReturnTo(settings, query.get('redirect')) === null) query.delete('redirect')
  return `${route.path}${query.size === 0 ? '' : `?${query}`}`
}

/** A link that is worth nothing any more is not carried on. */
function keptFields({ route, body, fault }: Refused): Record<string, string> {
  if (fault.code === 'invalid_token' || typeof body !== 'object' || body === null) return {}
  const fields = (route?.keepsOnError ?? []).map((name) => [name, Reflect.get(body, name)])
  return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string' && value.length <= 128))
}

/** With status and headers of the problem, which is shown as it is where the page cannot be made. */
async function errorPage(
  { settings, templates }: RefusalOptions,
  { request, fault, requestId }: Refused,
  response: HttpResponse,
): Promise<HttpResponse> {
  const { 'content-type': _type, ...headers } = response.headers
  try {
    await templates.prepare()
    // Only who meets a fault of ours has something to ask for.
    const shownId = fault.status >= 500 ? requestId : ''
    const values = { error: fault.code, requestId: shownId, startUrl: settings.redirectSuccessUrl }
    const page = templates.page('error', { ...values, basePath: authPathOf(settings, request) })
    return html(fault.status, page, { headers })
  } catch {
    return response
  }
}
