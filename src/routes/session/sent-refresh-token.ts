import { z } from 'zod'
import { AuthError } from '../../errors.js'
import type { RouteContext } from '../../http/route.js'

export const refreshTokenBody = z.object({ refreshToken: z.string().max(4096).optional() })

/**
 * A browser sends it in its cookie, any other client in the body and with the header that says so.
 *
 * @throws {AuthError} `invalid_request` without the header: it would be told that the session is over while it lives on
 */
export function sentRefreshToken(
  { mode, cookies }: Pick<RouteContext, 'mode' | 'cookies'>,
  { refreshToken }: z.output<typeof refreshTokenBody>,
): string | null {
  if (mode === 'token') return refreshToken ?? null
  if (refreshToken === undefined || cookies.refresh !== null) return cookies.refresh
  const message = 'must be token where the refresh token is in the body'
  throw new AuthError('invalid_request', { errors: [{ path: 'X-Auth-Mode', message }] })
}
