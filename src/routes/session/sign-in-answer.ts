import type { SignInResult } from '../../flows/session/sign-in.js'
import { challengeSeconds } from '../../flows/session/two-factor-challenge.js'
import { serializeCookie } from '../../http/cookies.js'
import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { json, redirect } from '../../http/problem.js'
import type { RouteContext } from '../../http/route.js'
import { signedInAnswer } from './answer.js'
import { checkingCookie } from './kept-cookies.js'

/** What every way into an existing account answers with: a session, or what the second step needs. */
export async function signInAnswer(context: RouteContext, result: SignInResult): Promise<HttpResponse> {
  if (result.kind === 'session') return signedInAnswer(context, 200, result.issued)
  const { challenge, methods } = result
  const answer = { status: 'two_factor_required', challenge, methods }
  if (context.mode === 'token') return json(200, answer)

  // In a cookie, never in a URL: URLs end up in histories, logs and Referer headers.
  const { settings, authPath, form, returnTo } = context
  const cookie = { 'set-cookie': [serializeCookie('challenge', challenge, challengeSeconds, settings, authPath)] }
  const next = checkingCookie(context, withReturnTo(`${authPath}/two-factor`, returnTo))
  return form ? redirect(303, next, cookie) : json(200, answer, cookie)
}
