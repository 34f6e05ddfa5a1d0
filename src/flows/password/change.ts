import { AuthError } from '../../errors.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import { newSession } from '../session/open-session.js'
import { type PasswordLimitPorts, visitorSource } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { requireStrong } from './reset.js'

export type ChangePasswordPorts = Pick<
  Ports,
  'users' | 'sessions' | 'passwords' | 'passwordFaults' | 'tokens' | 'mails' | 'audit' | 'random' | 'clock' | 'policy'
> &
  PasswordLimitPorts

export interface ChangePasswordInput {
  /** null if the account has none. */
  currentPassword: string | null
  newPassword: string
  mode: SessionMode
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
}

/**
 * Changes the password of the signed-in user. Every session ends, the caller's too, so that a copied token becomes invalid,
 * and a new one begins (ASVS 5.0, 7.4.3).
 *
 * @throws {AuthError} `invalid_credentials`, `weak_password` with `reasons`, `token_revoked` when the session ended
 *   meanwhile, as by a reset that came first, `recent_login_required`, `forbidden` (the other mode's session), `busy`
 */
export async function changePassword(
  ports: ChangePasswordPorts,
  principal: SessionPrincipal,
  input: ChangePasswordInput,
): Promise<IssuedSession> {
  const state = await readProfile(ports, principal)
  if (state.session.mode !== input.mode) throw new AuthError('forbidden')
  await requireStrong(ports, input.newPassword, state.user.emailCanonical)
  const { visitor, device, currentPassword: password } = input
  await requirePassword(ports, state, { password, event: 'password_changed', visitor, device })
  const passwordHash = await ports.passwords.hash(input.newPassword, visitorSource(visitor))

  // If the password had changed, the session would have ended with it.
  return atVersion(ports, { principal, state, refusal: 'token_revoked' }, (current) =>
    replace(ports, current, passwordHash, visitor),
  )
}

/** Null when the account changed since it was read. */
async function replace(
  ports: ChangePasswordPorts,
  { user, session: former }: SessionState,
  passwordHash: string,
  visitor: Visitor,
): Promise<IssuedSession | null> {
  const session = successor(ports, { user, session: former }, visitor)
  const changed = await ports.users.changePassword(
    { userId: user.id, version: user.version, fromSessionId: former.id, passwordHash, session },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'password_changed', visitor, { userId: user.id, sessionId: session.id }),
      ...notice(ports, 'password-changed', { user, userAgent: visitor.userAgent }),
    },
  )
  return changed && issueTokens(ports, changed, session)
}

/** The earlier proofs of the session still count. The password, if there was one, was proved just now in addition. */
function successor(
  ports: ChangePasswordPorts,
  { user, session: former }: Pick<SessionState, 'user' | 'session'>,
  visitor: Visitor,
): Session {
  const { mode, amr, authTime } = former
  const session = newSession(ports, { user, mode, amr: [...new Set([...amr, 'pwd'])], visitor })
  return user.passwordHash === null ? { ...session, amr, authTime } : session
}
