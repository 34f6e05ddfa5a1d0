import { isProved } from '../../model/admin-role.js'
import type { Session } from '../../model/session.js'
import type { ActorEntry } from '../../model/session-answer.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { longestAccessTokenSeconds } from '../../settings/lifetimes.js'
import { type ActingPorts, requireActing } from './acting.js'

/** A session and the tokens for its holder; null: the holder keeps the ones it has. Times are Unix seconds. */
export interface IssuedSession {
  user: UserRecord
  session: Session
  accessToken: string | null
  accessExpiresAt: number
  refreshToken: string | null
  /** The browser's device secret; null if it has it already, or keeps no cookies. */
  deviceToken: string | null
  /** The administrator who impersonates the user; null otherwise. */
  actor: ActorEntry | null
}

export type IssuePorts = ActingPorts & Pick<Ports, 'tokens'>

/** How long after a session's end one of its access tokens can still be unexpired on an instance whose clock is behind. */
const clockMarginSeconds = 120

/**
 * Signs a fresh access token; it never outlives its session. No token of an impersonated session is signed without a look at
 * the administrator.
 *
 * @throws {AuthError} `token_revoked` when the administrator may impersonate the user no more
 */
export async function issueAccess(ports: IssuePorts, user: UserRecord, session: Session): Promise<IssuedSession> {
  await ports.tokens.prepareSigning()
  const acting = await requireActing(ports, user, session)
  const now = ports.clock.now()
  const accessExpiresAt = Math.min(now + ports.policy.accessTokenSeconds, session.expiresAt)
  const accessToken = ports.tokens.signAccess({
    sub: user.id,
    sid: session.id,
    ctr: session.counter,
    ver: user.version,
    email: user.email,
    email_verified: user.emailVerified,
    // An impersonation never gives the role ADMIN, so its token does not carry what only that role needs.
    ...(acting === null && isProved(user) && { email_proved: true }),
    roles: user.roles,
    amr: session.amr,
    auth_time: session.authTime,
    ...(acting && {
      act: { sub: acting.user.id, sid: acting.session.id, ver: acting.user.version, exp: session.expiresAt },
    }),
    iat: now,
    exp: accessExpiresAt,
  })
  const actor = acting && { userId: acting.user.id, name: acting.user.name }
  return { user, session, accessToken, accessExpiresAt, refreshToken: null, deviceToken: null, actor }
}

/** Signs both. The refresh token is a function of the session row: made again, it is the same byte for byte. */
export async function issueTokens(ports: IssuePorts, user: UserRecord, session: Session): Promise<IssuedSession> {
  const issued = await issueAccess(ports, user, session)
  const refreshToken = ports.tokens.signRefresh({
    sub: user.id,
    sid: session.id,
    ctr: session.counter,
    ...(session.actor && { act: session.actor.sessionId }),
    iat: session.refreshIssuedAt,
    exp: session.refreshExpiresAt,
  })
  return { ...issued, refreshToken }
}

/**
 * Whether the session has not ended, and its user not changed, since they were read. Otherwise its cookies could replace those of
 * an impersonation that began meanwhile, or come after a sign-out.
 */
export function isCurrent(
  { revocations }: Pick<Ports, 'revocations'>,
  { user, session }: Pick<IssuedSession, 'user' | 'session'>,
): boolean {
  return !revocations.isEnded(session.id) && user.version >= revocations.deadBelow(user.id)
}

/** How long an access token that is signed now may be valid anywhere, whatever lifetime other processes use. */
export const accessTokensLiveSeconds = longestAccessTokenSeconds + clockMarginSeconds

/** Until when (Unix seconds) an access token signed up to now may be valid anywhere. A change row matters that long. */
export function changeMattersUntil({ clock }: Pick<Ports, 'clock'>): number {
  return clock.now() + accessTokensLiveSeconds
}
