import { AuthError } from '../../errors.js'
import type { Session } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { ignoreAuthError } from '../steps/ignore-auth-error.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { runHook } from '../steps/run-hook.js'
import { refuseLogin } from './refuse-login.js'

export type LoginHookPorts = Pick<Ports, 'users' | 'sessions' | 'audit' | 'clock' | 'random' | 'policy' | 'hooks'>

interface Arrived {
  user: UserRecord
  method: string
  visitor: Visitor
}

/**
 * Runs the hook and returns the user as proved. A stronger hash of the same password may just have replaced the old one, which
 * raises no version. So the account is read before the hook can raise it, and compared with that state later.
 *
 * @throws {AuthError} as `runHook`
 */
export async function beforeLogin(ports: LoginHookPorts, { user, method, visitor }: Arrived): Promise<UserRecord> {
  if (!ports.hooks.beforeLogin) return user
  const found = await ports.users.findById(user.id)
  const proved = found?.version === user.version ? found : user
  await runHook(ports, 'beforeLogin', { user: proved, method, visitor }).catch((refusal) =>
    refuseLogin(ports, { userId: user.id, method, visitor }, refusal),
  )
  return proved
}

/**
 * Runs the hook and returns the user with its changes, because tokens with former roles would be revoked at once.
 *
 * @throws {AuthError} as `runHook`; `invalid_credentials` when the hook has ended the session
 */
export async function afterLogin(ports: LoginHookPorts, session: Session, arrived: Arrived): Promise<UserRecord> {
  const { user, method, visitor } = arrived
  if (!ports.hooks.afterLogin) return user
  try {
    await runHook(ports, 'afterLogin', arrived)
  } catch (refusal) {
    await endRefused(ports, session, visitor)
    return refuseLogin(ports, { userId: user.id, method, visitor }, refusal)
  }
  const state = await ignoreAuthError<{ user: UserRecord } | null>(ports.sessions.find(session.id), { user })
  if (state) return state.user
  return refuseLogin(ports, { userId: user.id, method, visitor }, new AuthError('invalid_credentials'))
}

/** Ends the refused session. Its tokens were never sent, so it must not appear in the user's list of sessions. */
async function endRefused(ports: LoginHookPorts, { id, userId }: Session, visitor: Visitor): Promise<void> {
  const detail = { reason: 'hook' }
  const audit = auditEvent(ports, 'session_revoked', visitor, { userId, sessionId: id, detail })
  await ports.sessions.end(id, null, { until: changeMattersUntil(ports), audit })
}
