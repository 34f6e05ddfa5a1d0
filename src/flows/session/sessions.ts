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
 * Ends one session of that user; another's looks like none (ASVS 5.0, 8.2.2).
 *
 * @throws {AuthError} `not_found`
 */
export async function revokeSession(
  ports: SessionsPorts,
  input: { userId: string | null; sessionId: string; visitor: Visitor },
): Promise<void> {
  const ended = await ports.sessions.end(input.sessionId, input.userId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'session_revoked', input.visitor, {
      userId: input.userId,
      sessionId: input.sessionId,
    }),
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
