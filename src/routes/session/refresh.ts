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
  summary: 'Gives a fresh access token, and a new refresh token when it is time.',
  answers: { 200: sessionSchema },
  errors: ['unauthenticated', 'token_revoked', 'session_expired', 'busy'],
  cookies: ['refresh'],
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

/** That token will never be worth anything again: without it the page that offers to go on is not shown once more. */
function toSignIn(context: RouteContext, { code }: AuthError): HttpResponse {
  const target = withReturnTo(`${context.authPath}/login?error=${code}`, context.returnTo)
  return redirect(303, target, { 'set-cookie': clearedSession(context) })
}
