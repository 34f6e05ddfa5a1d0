import { deviceSeconds } from '../../flows/steps/devices.js'
import type { IssuedSession } from '../../flows/steps/issue-tokens.js'
import { serializeCookie } from '../../http/cookies.js'
import type { RouteContext } from '../../http/route.js'

/** The `Set-Cookie` lines of a new or continued session. A token that the browser keeps gets none. */
export function sessionCookies({ ports, settings, authPath }: RouteContext, issued: IssuedSession): string[] {
  const now = ports.clock.now()
  const kept = [
    ['access', issued.accessToken, issued.accessExpiresAt - now],
    ['refresh', issued.refreshToken, issued.session.refreshExpiresAt - now],
    ['device', issued.deviceToken, deviceSeconds],
  ] as const
  return kept.flatMap(([name, value, seconds]) =>
    value === null ? [] : [serializeCookie(name, value, seconds, settings, authPath)],
  )
}
