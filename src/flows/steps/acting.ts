import { AuthError } from '../../errors.js'
import { adminRole, rolesOf } from '../../model/admin-role.js'
import type { Session } from '../../model/session.js'
import type { ActorEntry } from '../../model/session-answer.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'

export type ActingPorts = Pick<Ports, 'sessions' | 'clock' | 'policy'>

/**
 * The administrator's session that an impersonated session came from, read now. Null for a session without one.
 *
 * @throws {AuthError} `token_revoked` when they may impersonate this user no more: their session has ended, their account is
 *   disabled, deleted or no administrator's, or the user has become one or got a role of `exceptRoles`
 */
export async function requireActing(
  ports: ActingPorts,
  user: UserRecord,
  { actor }: Pick<Session, 'actor'>,
): Promise<SessionState | null> {
  if (actor === null) return null
  const state = await ports.sessions.find(actor.sessionId)
  if (state?.user.id !== actor.userId || !mayImpersonate(ports, state.user, user)) throw new AuthError('token_revoked')
  return state
}

/** Whether this administrator may impersonate that user, as both are now. */
export function mayImpersonate(
  { clock, policy }: Pick<Ports, 'clock' | 'policy'>,
  administrator: UserRecord,
  user: UserRecord,
): boolean {
  const rules = policy.admin.impersonation
  if (rules === null || administrator.id === user.id) return false
  if (isDisabled(administrator, clock.now()) || isDisabled(user, clock.now())) return false
  if (!rolesOf(administrator, policy.adminEmails).includes(adminRole)) return false
  return !rolesOf(user, policy.adminEmails).some((role) => role === adminRole || rules.exceptRoles.includes(role))
}

/** The administrator as answers show them; null without one. The name is null for a deleted account. */
export async function readActor(
  { users }: Pick<Ports, 'users'>,
  { actor }: Pick<Session, 'actor'>,
): Promise<ActorEntry | null> {
  return actor && { userId: actor.userId, name: (await users.findById(actor.userId))?.name ?? null }
}
