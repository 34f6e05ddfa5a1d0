import { logout } from '../../flows/session/logout.js'
import type { IssuedSession } from '../../flows/steps/issue-tokens.js'
import { ignoreAuthError } from '../../flows/steps/run-hook.js'
import { clearCookie } from '../../http/cookies.js'
import { enrolUrl } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { json, redirect } from '../../http/problem.js'
import type { RouteContext } from '../../http/route.js'
import { isoTime } from '../../lib/iso-time.js'
import { rolesOf } from '../../model/admin-role.js'
import { type SessionAnswer, toSessionAnswer } from '../../model/session-answer.js'
import { lacksFactor } from '../../settings/required-factor.js'
import { sessionCookies } from './cookies.js'
import { throughCheck } from './kept-cookies.js'

export function sessionAnswer({ settings }: RouteContext, state: Parameters<typeof toSessionAnswer>[0]): SessionAnswer {
  return toSessionAnswer(state, settings.admin.emails)
}

/**
 * A session with its tokens: in cookies, or in the body for a client without cookies, never both. `more` extends a JSON
 * response.
 */
export function issuedAnswer(
  context: RouteContext,
  status: 200 | 201,
  issued: IssuedSession,
  more: Readonly<Record<string, unknown>> = {},
): HttpResponse {
  const answer = { ...more, ...sessionAnswer(context, issued) }
  if (context.mode === 'token') return json(status, { ...answer, ...tokensOf(issued) })

  const cookies = sessionCookies(context, issued)
  if (context.form) return redirect(303, context.landing, { 'set-cookie': cookies })
  return json(status, answer, { 'set-cookie': cookies })
}

/**
 * The same after a sign-in. It ends the browser's former session: a session that an attacker set there gains nothing (ASVS
 * 5.0, 7.2.4), and signing in twice leaves no unused session behind. If that fails, the new session still stands.
 */
export async function signedInAnswer(
  context: RouteContext,
  status: 200 | 201,
  issued: IssuedSession,
  more: Readonly<Record<string, unknown>> = {},
): Promise<HttpResponse> {
  const { ports, cookies, visitor } = context
  const former = { accessToken: cookies.access, refreshToken: cookies.refresh, visitor }
  await ignoreAuthError(logout(ports, former), undefined)
  const landing = throughCheck(context, landingAfter(context, issued))
  return issuedAnswer({ ...context, landing }, status, issued, more)
}

/** Where a browser goes after a sign-in. A user who lacks a required second factor sets one up first. */
function landingAfter({ settings, authPath, landing }: RouteContext, { user, session }: IssuedSession): string {
  const lacking = lacksFactor(settings.twoFactor, { roles: rolesOf(user, settings.admin.emails), amr: session.amr })
  return lacking ? enrolUrl(authPath, landing) : landing
}

/** Removes both cookies, with the attributes they were set with. The browser stays a known device. */
export function clearedSession(context: RouteContext): string[] {
  const { settings, authPath } = context
  return [clearCookie('access', settings, authPath), clearCookie('refresh', settings, authPath)]
}

/** The new tokens, for a client without cookies. */
export function tokensOf(issued: IssuedSession): Record<string, string> {
  return {
    ...(issued.accessToken === null
      ? {}
      : { accessToken: issued.accessToken, accessTokenExpiresAt: isoTime(issued.accessExpiresAt) }),
    ...(issued.refreshToken === null ? {} : { refreshToken: issued.refreshToken }),
  }
}
