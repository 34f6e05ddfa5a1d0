import { logout } from '../../flows/session/logout.js'
import { ignoreAuthError } from '../../flows/steps/ignore-auth-error.js'
import type { IssuedSession } from '../../flows/steps/issue-tokens.js'
import { clearCookie } from '../../http/cookies.js'
import { enrolUrl } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { json, redirect } from '../../http/problem.js'
import type { RouteContext } from '../../http/route.js'
import { isoTime } from '../../lib/iso-time.js'
import type { Session } from '../../model/session.js'
import type { SessionAnswer } from '../../model/session-answer.js'
import { toUser, type UserRecord } from '../../model/user.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { sessionCookies } from './cookies.js'

export function sessionAnswer(user: UserRecord, session: Session): SessionAnswer {
  const endsAt = Math.min(session.refreshExpiresAt, session.expiresAt)
  return { user: toUser(user), session: { id: session.id, expiresAt: isoTime(endsAt) } }
}

/**
 * A session with its tokens: in cookies, or in the body for a client without cookies, never both. `more` is what a JSON
 * answer shows besides.
 */
export function issuedAnswer(
  context: RouteContext,
  status: 200 | 201,
  issued: IssuedSession,
  more: Readonly<Record<string, unknown>> = {},
): HttpResponse {
  const answer = { ...more, ...sessionAnswer(issued.user, issued.session) }
  if (context.mode === 'token') return json(status, { ...answer, ...tokensOf(issued) })

  const cookies = sessionCookies(context, issued)
  if (context.form) return redirect(303, context.landing, { 'set-cookie': cookies })
  return json(status, answer, { 'set-cookie': cookies })
}

/**
 * The same after a sign-in. What this browser held before ends: a planted session gains nothing (ASVS 5.0, 7.2.4), and
 * signing in twice leaves no session behind that nobody holds. Where that fails, the new one is not to be such a session.
 */
export async function signedInAnswer(
  context: RouteContext,
  status: 200 | 201,
  issued: IssuedSession,
): Promise<HttpResponse> {
  const { ports, cookies, visitor } = context
  const former = { accessToken: cookies.access, refreshToken: cookies.refresh, visitor }
  await ignoreAuthError(logout(ports, former), undefined)
  return issuedAnswer({ ...context, landing: landingAfter(context, issued) }, status, issued)
}

/** Where a browser goes that has just signed in: whoever lacks a demanded second factor sets one up on the way. */
function landingAfter({ settings, authPath, landing }: RouteContext, { user, session }: IssuedSession): string {
  const lacking = lacksFactor(settings.twoFactor, { roles: user.roles, amr: session.amr })
  return lacking ? enrolUrl(authPath, landing) : landing
}

/** Takes both cookies away, with the attributes they were set with. The browser stays a known device. */
export function clearedSession(context: RouteContext): string[] {
  const { settings, authPath } = context
  return [clearCookie('access', settings, authPath), clearCookie('refresh', settings, authPath)]
}

/** Those of its tokens that are new, for a client without cookies. */
export function tokensOf(issued: IssuedSession): Record<string, string> {
  return {
    ...(issued.accessToken === null
      ? {}
      : { accessToken: issued.accessToken, accessTokenExpiresAt: isoTime(issued.accessExpiresAt) }),
    ...(issued.refreshToken === null ? {} : { refreshToken: issued.refreshToken }),
  }
}
