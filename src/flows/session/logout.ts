import { AuthError } from '../../errors.js'
import { asImpersonated, type ImpersonatedSession } from '../../model/session.js'
import { signedInVisitor, systemVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { requireActing } from '../steps/acting.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'

type LogoutPorts = EndImpersonationPorts & Pick<Ports, 'tokens'>

/**
 * Ends the sessions that these tokens belong to. A token only has to be signed by us: an expired or replaced one still signs
 * its session out. Without a token there is nothing to do.
 */
export async function logout(
  ports: LogoutPorts,
  input: { accessToken: string | null; refreshToken: string | null; visitor: Visitor },
): Promise<void> {
  const access = input.accessToken === null ? null : ports.tokens.checkAccess(input.accessToken)
  const refresh = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  const owners = new Map([access, refresh].flatMap((claims) => (claims ? [[claims.sid, claims] as const] : [])))

  for (const [sessionId, { sub: userId, act }] of owners) {
    if (act !== undefined) {
      await endImpersonationById(ports, sessionId, { visitor: input.visitor, reason: 'signed_out' })
      continue
    }
    const ids = { userId, sessionId }
    const audit = auditEvent(ports, 'logout', signedInVisitor(input.visitor, ids), ids)
    await ports.sessions.end(sessionId, userId, { until: changeMattersUntil(ports), audit })
  }
}

export type EndImpersonationPorts = Pick<Ports, 'sessions' | 'clock' | 'random' | 'policy'>

/** Why it ended. `administrator`: their session ended, or they may impersonate the user no more. */
type EndReason = 'stopped' | 'signed_out' | 'expired' | 'administrator'

interface End {
  visitor: Visitor
  reason: EndReason
}

/** Of concurrent calls exactly one ends and records it. */
async function endImpersonation(
  ports: EndImpersonationPorts,
  session: ImpersonatedSession,
  { visitor, reason }: End,
): Promise<void> {
  const { id: sessionId, userId, createdAt, expiresAt } = session
  const detail = { reason, seconds: Math.min(ports.clock.now(), expiresAt) - createdAt }
  await ports.sessions.end(sessionId, userId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'impersonation_stopped', visitor, { userId, sessionId, detail }),
    impersonated: session,
  })
}

/** Ends the session of a token, in the name of its administrator. Does nothing when it has ended or is not impersonated. */
export async function endImpersonationById(
  ports: EndImpersonationPorts,
  sessionId: string,
  { visitor, reason }: End,
): Promise<void> {
  const state = await ports.sessions.find(sessionId)
  const session = state && asImpersonated(state.session)
  if (session === null) return
  const { id, userId, actor } = session
  await endImpersonation(ports, session, {
    visitor: signedInVisitor(visitor, { userId, sessionId: id, actor }),
    reason,
  })
}

/**
 * Ends those of the `count` oldest impersonated sessions whose time is over, or whose administrator may go on no more. True when
 * there may be more.
 */
export async function endOverdueImpersonations(ports: EndImpersonationPorts, count: number): Promise<boolean> {
  const sessions = await ports.sessions.impersonated(count)
  let ended = 0
  for (const session of sessions) {
    const reason = await overdue(ports, session)
    if (reason === null) continue
    await endImpersonation(ports, session, { visitor: systemVisitor, reason })
    ended += 1
  }
  return ended === count
}

async function overdue(ports: EndImpersonationPorts, session: ImpersonatedSession): Promise<EndReason | null> {
  if (session.expiresAt <= ports.clock.now()) return 'expired'
  const user = (await ports.sessions.find(session.id))?.user
  // Ended meanwhile.
  if (user === undefined) return null
  try {
    await requireActing(ports, user, session)
    return null
  } catch (error) {
    if (error instanceof AuthError && error.code === 'token_revoked') return 'administrator'
    throw error
  }
}
