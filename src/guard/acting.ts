import { type CookieNames, readCookie } from '../http/cookies.js'
import type { HttpRequest } from '../http/message.js'
import type { Acting } from '../http/route.js'
import type { Clock } from '../ports.js'
import type { Tokens } from '../tokens/access-tokens.js'
import type { Revocations } from './revocations.js'

export interface KnownPorts extends ActingPorts {
  revocations: Pick<Revocations, 'isEnded' | 'deadBelow'>
}

export interface ActingPorts {
  tokens: Pick<Tokens, 'checkAccess' | 'checkRefresh'>
  revocations: Pick<Revocations, 'isEnded'>
  clock: Pick<Clock, 'now'>
  cookieNames: CookieNames
}

/**
 * Finds the user of a request whose tokens are valid, as the name of its limit: all sessions of a user share one. Access tokens of
 * an account that has changed since do not count, nor does a refresh token in a body, which is not read yet. No I/O.
 */
export function createKnownSession({ tokens, revocations, clock, cookieNames }: KnownPorts) {
  const lives = (claims: { sid: string; sub: string; ver: number; exp: number }) =>
    claims.exp > clock.now() && !revocations.isEnded(claims.sid) && claims.ver >= revocations.deadBelow(claims.sub)

  return ({ headers }: HttpRequest): string | null => {
    for (const token of accessTokensOf(headers, cookieNames)) {
      const claims = token === null ? null : tokens.checkAccess(token)
      if (claims !== null && lives(claims)) return `user ${claims.sub}`
    }
    const refresh = readCookie(headers.cookie, cookieNames.refresh)
    const held = refresh === null ? null : tokens.checkRefresh(refresh)
    const isAlive = held !== null && held.exp > clock.now() && !revocations.isEnded(held.sid)
    return isAlive ? `user ${held.sub}` : null
  }
}

function accessTokensOf(headers: HttpRequest['headers'], names: CookieNames): (string | null)[] {
  const bearer = /^bearer (.+)$/i.exec(String(headers.authorization ?? ''))?.[1] ?? null
  return [bearer, readCookie(headers.cookie, names.access)]
}

/**
 * Finds out whether an administrator impersonates the user of a request, by its access or refresh token. It errs on the side
 * of yes: a session that ended by a change of an account counts until its tokens expire. No I/O.
 */
export function createActing({ tokens, revocations, clock, cookieNames }: ActingPorts) {
  const lives = (claims: { sid: string; exp: number }, actorSession: string) =>
    claims.exp > clock.now() && !revocations.isEnded(claims.sid) && !revocations.isEnded(actorSession)

  return ({ headers }: HttpRequest): Acting | null => {
    for (const token of accessTokensOf(headers, cookieNames)) {
      const claims = token === null ? null : tokens.checkAccess(token)
      if (claims?.act && lives(claims, claims.act.sid)) return { email: claims.email }
    }
    const refresh = readCookie(headers.cookie, cookieNames.refresh)
    const held = refresh === null ? null : tokens.checkRefresh(refresh)
    return held?.act !== undefined && lives(held, held.act) ? { email: null } : null
  }
}
