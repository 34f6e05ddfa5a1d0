import { AuthError } from '../../errors.js'
import { asImpersonated, type SessionMode } from '../../model/session.js'
import { isDisabled } from '../../model/user.js'
import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import type { RefreshClaims } from '../../tokens/access-tokens.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, isCurrent, issueAccess, issueTokens } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { endImpersonationById } from './logout.js'

type RefreshPorts = Pick<
  Ports,
  'sessions' | 'tokens' | 'proofs' | 'revocations' | 'clock' | 'random' | 'policy' | 'audit' | 'mails'
>

interface RefreshInput {
  refreshToken: string
  mode: SessionMode
  visitor: Visitor
}

/**
 * How long a rotation must be proven, by the store's clock, before the counter rises or an older token counts as stolen.
 * Longer than two one-way delays of a browser's slowest request, so that a tab that lost the race is never signed out.
 */
const provenForMs = 30_000

/** A refresh that loses a race reads again. After more than two losses the store is failing, not the client. */
const attempts = 3

/**
 * Turns a refresh token into a fresh access token, and into its successor when it is time.
 *
 * A token of the current counter proves that rotation and raises the counter in a compare-and-set. A token of the one before
 * gets the same successor again until that successor was used. An older token is stolen, so the session ends (RFC 9700
 * §4.14.2; ASVS 5.0, 10.4.5).
 *
 * When the administrator may impersonate the user no more, an impersonated session ends here.
 *
 * @throws {AuthError} `unauthenticated`, `session_expired`, `token_revoked`, `forbidden` (the other mode's token)
 */
export async function refresh(ports: RefreshPorts, input: RefreshInput): Promise<IssuedSession> {
  const claims = ports.tokens.checkRefresh(input.refreshToken)
  if (!claims) throw new AuthError('unauthenticated')
  if (claims.exp <= ports.clock.now()) throw new AuthError('session_expired')
  try {
    return await renew(ports, claims, input)
  } catch (error) {
    if (claims.act !== undefined && error instanceof AuthError && error.code === 'token_revoked') {
      await endImpersonationById(ports, claims.sid, { visitor: input.visitor, reason: 'administrator' })
    }
    throw error
  }
}

async function renew(ports: RefreshPorts, claims: RefreshClaims, input: RefreshInput): Promise<IssuedSession> {
  await ports.proofs.settle(claims.sid)

  // Most tokens were proven long ago. For these, one step decides and does everything.
  const risen = mayBeTime(ports, claims) ? await rise(ports, claims, input.mode) : null
  const renewed = risen && (await issueTokens(ports, risen.user, risen.session))
  if (renewed && isCurrent(ports, renewed)) return renewed

  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const state = livingState(ports, claims, input.mode, await ports.sessions.find(claims.sid))
    const issued = await answerFor(ports, state, claims, input)
    if (issued && isCurrent(ports, issued)) return issued
  }
  throw new AuthError('busy', { retryAfterSeconds: 1 })
}

function livingState(
  ports: RefreshPorts,
  claims: RefreshClaims,
  mode: SessionMode,
  state: SessionState | null,
): SessionState {
  const now = ports.clock.now()
  if (!state || state.user.id !== claims.sub) throw new AuthError('token_revoked')
  if (state.session.expiresAt <= now) throw new AuthError('session_expired')
  if (isDisabled(state.user, now)) throw new AuthError('token_revoked')
  if (state.session.mode !== mode) throw new AuthError('forbidden')
  return state
}

/** Null when another refresh won the compare-and-set: read again. */
async function answerFor(
  ports: RefreshPorts,
  state: SessionState,
  claims: RefreshClaims,
  input: RefreshInput,
): Promise<IssuedSession | null> {
  const { session, user } = state
  if (claims.ctr > session.counter) throw new AuthError('token_revoked')
  if (claims.ctr === session.counter) return presentCurrent(ports, state, input)
  if (claims.ctr < session.counter - 1) return endAsTheft(ports, state, input.visitor)

  if (session.provenAtMs === null) return reissue(ports, state, input.visitor)
  if (state.storeNowMs - session.provenAtMs < provenForMs) {
    return { ...(await issueAccess(ports, user, session)), accessToken: null }
  }
  return endAsTheft(ports, state, input.visitor)
}

async function presentCurrent(
  ports: RefreshPorts,
  state: SessionState,
  input: RefreshInput,
): Promise<IssuedSession | null> {
  const { session, user } = state
  ports.proofs.note(session.id, session.counter, ports.clock.monotonicMs())

  const mayRise =
    session.counter === 0 || (session.provenAtMs !== null && state.storeNowMs - session.provenAtMs >= provenForMs)
  if (!mayRise) {
    const issued = await issueAccess(ports, user, session)
    return input.mode === 'token' ? { ...issued, refreshToken: input.refreshToken } : issued
  }

  const risen = await rise(ports, { sid: session.id, sub: user.id, ctr: session.counter }, input.mode)
  return risen && issueTokens(ports, risen.user, risen.session)
}

/** A token younger than the required proof cannot have been proven long enough. */
function mayBeTime({ clock }: Pick<RefreshPorts, 'clock'>, { ctr, iat }: RefreshClaims): boolean {
  return ctr === 0 || 1_000 * (clock.now() - iat) >= provenForMs
}

/** Raises the counter if it is time. Null if it is not, if another refresh has done it, or without such a session. */
function rise(
  ports: RefreshPorts,
  { sid, sub, ctr }: Pick<RefreshClaims, 'sid' | 'sub' | 'ctr'>,
  mode: SessionMode,
): Promise<SessionState | null> {
  const now = ports.clock.now()
  return ports.sessions.rotate({
    sessionId: sid,
    userId: sub,
    mode,
    counter: ctr,
    issuedAt: now,
    expiresAt: now + ports.policy.refreshTokenSeconds,
    provenForMs,
    now,
  })
}

/** Issues the successor again: its response was lost, or another tab asked at the same time. */
async function reissue(ports: RefreshPorts, { session, user }: SessionState, visitor: Visitor): Promise<IssuedSession> {
  if (visitor.ip !== session.ip || visitor.userAgent !== session.userAgent) {
    const ids = { userId: user.id, sessionId: session.id }
    const who = signedInVisitor(visitor, { ...ids, actor: session.actor })
    await ports.audit.record(auditEvent(ports, 'refresh_reissued', who, ids))
  }
  return issueTokens(ports, user, session)
}

/**
 * Two holders used tokens of one session. Ends the session for both, records it and notifies the user.
 *
 * @throws {AuthError} `token_revoked`, always
 */
async function endAsTheft(
  ports: Pick<Ports, 'sessions' | 'clock' | 'random' | 'policy' | 'mails'>,
  { session, user }: SessionState,
  visitor: Visitor,
): Promise<never> {
  await ports.sessions.end(session.id, null, {
    until: changeMattersUntil(ports),
    impersonated: asImpersonated(session),
    audit: auditEvent(ports, 'refresh_token_reuse', visitor, {
      userId: user.id,
      sessionId: session.id,
      outcome: 'failure',
    }),
    ...notice(ports, 'refresh-reuse', { user, userAgent: session.userAgent }),
  })
  throw new AuthError('token_revoked')
}
