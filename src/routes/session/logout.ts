import { logout } from '../../flows/session/logout.js'
import { empty, redirect } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { clearedSession } from './answer.js'
import { refreshTokenBody, sentRefreshToken } from './sent-refresh-token.js'

export const logoutRoute = defineRoute({
  method: 'POST',
  path: '/logout',
  limit: 'other',
  body: refreshTokenBody,
  summary: 'Signs out and clears the cookies. Works without a session too.',
  answers: { 204: null },
  cookies: ['access', 'refresh'],
  duringImpersonation: true,
  async handle(context, body) {
    const { ports, mode, cookies, visitor, bearer, settings, returnTo } = context
    await logout(ports, {
      accessToken: bearer ?? cookies.access,
      refreshToken: sentRefreshToken(context, body),
      visitor,
    })
    if (mode === 'token') return empty(204)
    const cleared = { 'set-cookie': clearedSession(context) }
    return context.form ? redirect(303, returnTo ?? settings.redirectLogoutUrl, cleared) : empty(204, cleared)
  },
})
