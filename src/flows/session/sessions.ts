import { AuthError } from '../../errors.js'
import type { Session } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'

export type SessionsPorts = Pick<Ports, 'sessions' | 'clock' | 'random' | 'policy'>

/** The user's live sessions, newest first. */
export function listSessions(ports: Pick<Ports, 'sessions' | 'clock'>, userId: string): Promise<Session[]> {
  return ports.sessions.list(userId, ports.clock.now())
}

/**
 * Ends one session of that user; another's looks like none (ASVS 5.0, 8.2.2). Without a user, ends the session of any.
 *
 * @throws {AuthError} `not_found`
 */
export async function revokeSession(
  ports: SessionsPorts,
  input: { userId: string | null; sessionId: string; visitor: Visitor },
): Promise<void> {
  const { sessionId, visitor } = input
  // A session never changes its user, so that nothing can come between the two steps.
  const userId = input.userId ?? (await ports.sessions.find(sessionId))?.user.id
  if (userId === undefined) throw new AuthError('not_found')
  const ended = await ports.sessions.end(sessionId, userId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'session_revoked', visitor, { userId, sessionId }),
  })
  if (!ended) throw new AuthError('not_found')
}

/** Ends all sessions of that user but the one given; returns how many. */
export function revokeSessions(
  ports: SessionsPorts,
  input: { userId: string; exceptId: string | null; visitor: Visitor },
): Promise<number> {
  return ports.sessions.endAll(input.userId, input.exceptId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'sessions_revoked', input.visitor, { userId: input.userId }),
  })
}
