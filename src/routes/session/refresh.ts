import { AuthError } from '../../errors.js'
import { refresh } from '../../flows/session/refresh.js'
import { withReturnTo } from '../../http/landing.js'
import type { HttpResponse } from '../../http/message.js'
import { redirect } from '../../http/problem.js'
import { defineRoute, type RouteContext } from '../../http/route.js'
import { sessionSchema } from '../answer-schemas.js'
import { clearedSession, issuedAnswer } from './answer.js'
import { refreshTokenBody, sentRefreshToken } from './sent-refresh-token.js'

export const refreshRoute = defineRoute({
  method: 'POST',
  path: '/refresh',
  aliases: ['/refreshtoken'],
  limit: 'refresh',
  body: refreshTokenBody,
  page: '/login',
  summary: 'Issues a fresh access token, and a new refresh token when one is due.',
  answers: { 200: sessionSchema },
  errors: ['unauthenticated', 'token_revoked', 'session_expired', 'busy'],
  cookies: ['refresh'],
  duringImpersonation: true,
  async handle(context, body) {
    const { ports, mode, visitor } = context
    const refreshToken = sentRefreshToken(context, body)
    if (refreshToken === null) throw new AuthError('unauthenticated')
    try {
      return issuedAnswer(context, 200, await refresh(ports, { refreshToken, mode, visitor }))
    } catch (error) {
      if (context.form && error instanceof AuthError && error.status === 401) return toSignIn(context, error)
      throw error
    }
  },
})

/** Removes a refresh token that can never work again. Otherwise the browser would see the page "Continue" again. */
function toSignIn(context: RouteContext, { code }: AuthError): HttpResponse {
  const target = withReturnTo(`${context.authPath}/login?error=${code}`, context.returnTo)
  return redirect(303, target, { 'set-cookie': clearedSession(context) })
}
