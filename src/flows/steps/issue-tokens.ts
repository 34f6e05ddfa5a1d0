import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import { longestAccessTokenSeconds } from '../../settings/lifetimes.js'

/** A session and the tokens that its holder gets; null = keeps what they have. Times are Unix seconds. */
export interface IssuedSession {
  user: UserRecord
  session: Session
  accessToken: string | null
  accessExpiresAt: number
  refreshToken: string | null
  /** What the browser keeps of its device; null where it has it already, or keeps no cookies. */
  deviceToken: string | null
}

/** How long after a session's end one of its access tokens can still be unexpired on an instance whose clock is behind. */
const clockMarginSeconds = 120

/** Signs a fresh access token; it never outlives its session. */
export async function issueAccess(
  ports: Pick<Ports, 'tokens' | 'clock' | 'policy'>,
  user: UserRecord,
  session: Session,
): Promise<IssuedSession> {
  await ports.tokens.prepareSigning()
  const now = ports.clock.now()
  const accessExpiresAt = Math.min(now + ports.policy.accessTokenSeconds, session.expiresAt)
  const accessToken = ports.tokens.signAccess({
    sub: user.id,
    sid: session.id,
    ctr: session.counter,
    ver: user.version,
    email: user.email,
    email_verified: user.emailVerified,
    roles: user.roles,
    amr: session.amr,
    auth_time: session.authTime,
    iat: now,
    exp: accessExpiresAt,
  })
  return { user, session, accessToken, accessExpiresAt, refreshToken: null, deviceToken: null }
}

/** Signs both. The refresh token is a function of the session row: asked again, it is the same byte for byte. */
export async function issueTokens(
  ports: Pick<Ports, 'tokens' | 'clock' | 'policy'>,
  user: UserRecord,
  session: Session,
): Promise<IssuedSession> {
  const issued = await issueAccess(ports, user, session)
  const refreshToken = ports.tokens.signRefresh({
    sub: user.id,
    sid: session.id,
    ctr: session.counter,
    iat: session.refreshIssuedAt,
    exp: session.refreshExpiresAt,
  })
  return { ...issued, refreshToken }
}

/** How long an access token that is signed now may be alive somewhere, whatever lifetime other processes are set to. */
export const accessTokensLiveSeconds = longestAccessTokenSeconds + clockMarginSeconds

/** Until when (Unix seconds) an access token signed up to now may still be alive somewhere: how long a change row matters. */
export function changeMattersUntil({ clock }: Pick<Ports, 'clock'>): number {
  return clock.now() + accessTokensLiveSeconds
}
