import { AuthError } from '../../errors.js'
import { asImpersonated, type Session } from '../../model/session.js'
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
 * Ends one session of that user. Another user's session looks unknown (ASVS 5.0, 8.2.2). Without a user, it ends any session.
 *
 * @throws {AuthError} `not_found`
 */
export async function revokeSession(
  ports: SessionsPorts,
  input: { userId: string | null; sessionId: string; visitor: Visitor },
): Promise<void> {
  const { sessionId, visitor } = input
  // A session never changes its user, so the two steps cannot conflict.
  const state = await ports.sessions.find(sessionId)
  if (!state || (input.userId !== null && input.userId !== state.user.id)) throw new AuthError('not_found')
  const userId = state.user.id
  const ended = await ports.sessions.end(sessionId, userId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'session_revoked', visitor, { userId, sessionId }),
    impersonated: asImpersonated(state.session),
  })
  if (!ended) throw new AuthError('not_found')
}

/** Ends all sessions of that user except the given one; returns how many. */
export function revokeSessions(
  ports: SessionsPorts,
  input: { userId: string; exceptId: string | null; visitor: Visitor },
): Promise<number> {
  return ports.sessions.endAll(input.userId, input.exceptId, {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'sessions_revoked', input.visitor, { userId: input.userId }),
  })
}

/**
 * Ends all sessions of a user, for an administrator.
 *
 * @throws {AuthError} `not_found` when there is no such user
 */
export async function endUserSessions(
  ports: SessionsPorts & Pick<Ports, 'users'>,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  if (!(await ports.users.findById(id))) throw new AuthError('not_found')
  await revokeSessions(ports, { userId: id, exceptId: null, visitor })
}
