import { withReturnTo } from '../../http/landing.js'
import { queryOf } from '../../http/query.js'
import type { RouteContext } from '../../http/route.js'
import { withQuery } from '../../lib/url.js'

type Context = Pick<RouteContext, 'request' | 'cookies' | 'visitor'> & {
  ports: Pick<RouteContext['ports'], 'keyring' | 'clock'>
}

/** In the address of a page of ours: proves that the response before it set a cookie for this client. */
const cookieSet = 'cookie'
/** A redirect takes no longer. */
const proofSeconds = 60

/**
 * Whether the browser may refuse our cookies: it navigates, and it has sent none of our cookies. Without a check, it would
 * show the same form again and again, without a reason.
 */
function mayRefuseCookies({ request, cookies }: Pick<Context, 'request' | 'cookies'>): boolean {
  if (request.headers['sec-fetch-mode'] !== 'navigate') return false
  return Object.values(cookies).every((value) => value === null)
}

/** The address of the page that follows a response with a cookie. `cookieOutcome` reads it there. */
export function checkingCookie(context: Context, page: string): string {
  return mayRefuseCookies(context) ? withQuery(page, { [cookieSet]: proofFor(context) }) : page
}

/**
 * The address after a sign-in. Where the cookies may have been refused it leads through the sign-in page, which redirects to
 * the landing when the session is there, and otherwise says what is wrong.
 */
export function throughCheck(context: Context & Pick<RouteContext, 'authPath'>, landing: string): string {
  if (!mayRefuseCookies(context)) return landing
  return checkingCookie(context, withReturnTo(`${context.authPath}/login`, landing))
}

/** Whether the browser kept a cookie that was just set. null: none was, or not for this client. */
export function cookieOutcome(
  context: Omit<Context, 'cookies'>,
  ...cookies: readonly (string | null)[]
): 'kept' | 'refused' | null {
  const proof = queryOf(context.request).get(cookieSet)
  if (proof === null || !isProof(context, proof)) return null
  return cookies.every((cookie) => cookie === null) ? 'refused' : 'kept'
}

/** Without a key, any link could make the page claim that the browser refuses cookies. */
function proofFor(context: Omit<Context, 'cookies'>): string {
  const setAt = context.ports.clock.now()
  return `${setAt}.${context.ports.keyring.digest('cookie-set', provedText(context, setAt))}`
}

function isProof(context: Omit<Context, 'cookies'>, proof: string): boolean {
  const { clock, keyring } = context.ports
  const dot = proof.indexOf('.')
  const setAt = Number(proof.slice(0, dot))
  const isFresh = Math.abs(clock.now() - setAt) <= proofSeconds
  return isFresh && keyring.digests('cookie-set', provedText(context, setAt)).includes(proof.slice(dot + 1))
}

function provedText({ visitor: { ip, userAgent } }: Pick<Context, 'visitor'>, setAt: number): string {
  return JSON.stringify([setAt, ip, userAgent])
}
