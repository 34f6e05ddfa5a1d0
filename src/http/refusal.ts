import type { AuthError } from '../errors.js'
import type { Settings } from '../settings.js'
import type { Templates } from '../templates/templates.js'
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
  wish: string | null
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
  // A form that is not from our own pages is nobody's to lead on: it gets the plain 403 (ATK-078).
  if (refused.form && refused.route !== null && fault.code !== 'csrf_rejected') return ledBack(options, refused)
  const told = problem(fault, requestId, headers)
  return isForEyes(request) ? errorPage(options, refused, told) : told
}

/** The same for a request of which nothing was read but where it goes. */
export function refusalUnread(
  options: RefusalOptions,
  refused: Pick<Refused, 'request' | 'requestId' | 'fault'>,
): Promise<HttpResponse> {
  return refusal(options, { ...refused, form: false, route: null, body: null, wish: null, headers: {} })
}

/** Where the auth routes lie for the client: behind a mount or a proxy path their cookies need that prefix. */
export function authPathOf(settings: Pick<Settings, 'urlPath' | 'basePath'>, request: HttpRequest): string {
  return `${request.mount === '' ? settings.urlPath : request.mount}${settings.basePath}`
}

function ledBack({ settings }: RefusalOptions, refused: Refused): HttpResponse {
  const { request, fault, route, wish, requestId } = refused
  const page = route?.page
  const query = new URLSearchParams({
    ...keptFields(refused),
    ...(wish === null ? {} : { redirect: wish }),
    error: fault.code,
    ...(fault.details.reasons ? { reasons: fault.details.reasons.join(',') } : {}),
    ...(page === undefined && fault.status >= 500 ? { request: requestId } : {}),
  })
  return redirect(303, `${authPathOf(settings, request)}${page ?? '/error'}?${query}`)
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
  told: HttpResponse,
): Promise<HttpResponse> {
  const { 'content-type': _type, ...headers } = told.headers
  try {
    await templates.prepare()
    // Only who meets a fault of ours has something to ask for.
    const shownId = fault.status >= 500 ? requestId : ''
    const values = { error: fault.code, requestId: shownId, startUrl: settings.redirectSuccessUrl }
    const page = templates.page('error', { ...values, basePath: authPathOf(settings, request) })
    return html(fault.status, page, { headers })
  } catch {
    return told
  }
}
