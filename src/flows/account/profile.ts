import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { ActorEntry } from '../../model/session-answer.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { readActor } from '../steps/acting.js'
import { auditEvent } from '../steps/audit.js'
import { changeFields } from '../steps/change-fields.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { requirePassword } from './require-password.js'

export type ProfilePorts = Pick<Ports, 'users' | 'sessions' | 'passwords' | 'clock' | 'random' | 'policy' | 'home'>

/**
 * The signed-in user and session as stored now.
 *
 * @throws {AuthError} `token_revoked` when the session ended meanwhile
 */
export async function readProfile(ports: Pick<Ports, 'sessions'>, principal: SessionPrincipal): Promise<SessionState> {
  const state = await ports.sessions.find(principal.sessionId)
  if (!state) throw new AuthError('token_revoked')
  return state
}

/**
 * The same with the administrator who impersonates the user, or null.
 *
 * @throws {AuthError} `token_revoked` when the session ended meanwhile
 */
export async function readMe(
  ports: Pick<Ports, 'sessions' | 'users'>,
  principal: SessionPrincipal,
): Promise<SessionState & { actor: ActorEntry | null }> {
  const state = await readProfile(ports, principal)
  return { ...state, actor: await readActor(ports, state.session) }
}

/**
 * Sets the name or extra fields: what is sent, as far as the owner's schema allows.
 *
 * @throws {AuthError} `invalid_request` by the owner's schema, `token_revoked`
 */
export async function updateProfile(
  ports: ProfilePorts,
  principal: SessionPrincipal,
  input: {
    name?: string | null | undefined
    fields: Readonly<Record<string, unknown>>
    /** Fields to remove, where the owner's schema does not require them. */
    cleared: readonly string[]
    visitor: Visitor
  },
): Promise<SessionState> {
  const { user } = await readProfile(ports, principal)
  const fields = await changeFields(ports, user.fields, input.fields, input.cleared)
  await ports.users.updateProfile(
    principal.userId,
    { ...(input.name === undefined ? {} : { name: input.name }), ...(fields ? { fields } : {}) },
    auditEvent(ports, 'profile_changed', input.visitor, {
      userId: principal.userId,
      sessionId: principal.sessionId,
    }),
  )
  return readProfile(ports, principal)
}

/**
 * Deletes the account for good, after its password.
 *
 * @throws {AuthError} `invalid_credentials`, `rate_limited`, `recent_login_required`, `token_revoked`, `busy`,
 *   `would_lock_out` for the last administrator, in the host `last_admin`
 */
export async function deleteAccount(
  ports: ProfilePorts & PasswordLimitPorts & Pick<Ports, 'audit'>,
  principal: SessionPrincipal,
  input: { password: string | null; visitor: Visitor; device: string | null },
): Promise<void> {
  const state = await readProfile(ports, principal)
  await requirePassword(ports, state, { ...input, event: 'account_deleted' })
  const audit = auditEvent(ports, 'account_deleted', input.visitor, { userId: state.user.id })
  const deleted = await ports.users.delete(state.user.id, changeMattersUntil(ports), audit, ports.policy.adminEmails)
  if (deleted === 'last_admin') throw lastAdminFault(ports)
}
