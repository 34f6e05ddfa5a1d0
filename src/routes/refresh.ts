import { z } from 'zod'
import { AuthError } from '../errors.js'
import { refresh } from '../flows/refresh.js'
import { defineRoute } from '../http/route.js'
import { issuedAnswer } from './session-answer.js'

export const refreshRoute = defineRoute({
  method: 'POST',
  path: '/refresh',
  aliases: ['/refreshtoken'],
  limit: 'refresh',
  body: z.object({ refreshToken: z.string().max(4096).optional() }),
  summary: 'Gives a fresh access token, and a new refresh token when it is time.',
  async handle(context, body) {
    const { ports, mode, cookies, visitor } = context
    const refreshToken = mode === 'token' ? (body.refreshToken ?? null) : cookies.refresh
    if (refreshToken === null) throw new AuthError('unauthenticated')
    return issuedAnswer(context, 200, await refresh(ports, { refreshToken, mode, visitor }))
  },
})
