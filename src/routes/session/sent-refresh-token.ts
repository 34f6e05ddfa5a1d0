import { z } from 'zod'
import { invalidField } from '../../errors.js'
import type { RouteContext } from '../../http/route.js'

export const refreshTokenBody = z.object({
  refreshToken: z.string().max(4096).optional().describe('In token mode: the refresh token.'),
})

/**
 * A browser sends the refresh token in its cookie. Other clients send it in the body, with `X-Auth-Mode: token`.
 *
 * @throws {AuthError} `invalid_request` for a token in the body without the header. A 401 would wrongly say that the session
 *   has ended.
 */
export function sentRefreshToken(
  { mode, cookies }: Pick<RouteContext, 'mode' | 'cookies'>,
  { refreshToken }: z.output<typeof refreshTokenBody>,
): string | null {
  if (mode === 'token') return refreshToken ?? null
  if (refreshToken === undefined || cookies.refresh !== null) return cookies.refresh
  const message = 'must be token where the refresh token is in the body'
  throw invalidField('X-Auth-Mode', message)
}
