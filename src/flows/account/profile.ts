import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { ActorEntry } from '../../model/session-answer.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readActor } from '../steps/acting.js'
import { auditEvent } from '../steps/audit.js'
import { changeFields } from '../steps/change-fields.js'

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
