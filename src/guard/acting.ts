import { type CookieNames, readCookie } from '../http/cookies.js'
import type { HttpRequest } from '../http/message.js'
import type { Acting } from '../http/route.js'
import type { Clock } from '../ports.js'
import type { Tokens } from '../tokens/access-tokens.js'
import type { Revocations } from './revocations.js'

export interface ActingPorts {
  tokens: Pick<Tokens, 'checkAccess' | 'checkRefresh'>
  revocations: Pick<Revocations, 'isEnded'>
  clock: Pick<Clock, 'now'>
  cookieNames: CookieNames
}

/**
 * Finds out whether an administrator impersonates the user of a request, by its access or refresh token. It errs on the side
 * of yes: a session that ended by a change of an account counts until its tokens expire. No I/O.
 */
export function createActing({ tokens, revocations, clock, cookieNames }: ActingPorts) {
  const lives = (claims: { sid: string; exp: number }, actorSession: string) =>
    claims.exp > clock.now() && !revocations.isEnded(claims.sid) && !revocations.isEnded(actorSession)

  return ({ headers }: HttpRequest): Acting | null => {
    const bearer = /^bearer (.+)$/i.exec(String(headers.authorization ?? ''))?.[1] ?? null
    for (const token of [bearer, readCookie(headers.cookie, cookieNames.access)]) {
      const claims = token === null ? null : tokens.checkAccess(token)
      if (claims?.act && lives(claims, claims.act.sid)) return { email: claims.email }
    }
    const refresh = readCookie(headers.cookie, cookieNames.refresh)
    const held = refresh === null ? null : tokens.checkRefresh(refresh)
    return held?.act !== undefined && lives(held, held.act) ? { email: null } : null
  }
}
