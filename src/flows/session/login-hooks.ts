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
 * Runs the hook and returns the user as proved. The hash may just have been replaced by a stronger one of the same password,
 * which raises no version: read before the hook raises it, it is what the account is compared with.
 *
 * @throws {AuthError} as `runHook`
 */
export async function beforeLogin(ports: LoginHookPorts, { user, method, visitor }: Arrived): Promise<UserRecord> {
  const hook = ports.hooks.beforeLogin
  if (!hook) return user
  const found = await ports.users.findById(user.id)
  const proved = found?.version === user.version ? found : user
  await runHook(hook, { user: proved, method, visitor }).catch((refusal) =>
    refuseLogin(ports, { userId: user.id, method, visitor }, refusal),
  )
  return proved
}

/**
 * Runs the hook and returns the user as it leaves them: tokens of former roles would be dead at once.
 *
 * @throws {AuthError} as `runHook`; `invalid_credentials` when the hook has ended the session
 */
export async function afterLogin(ports: LoginHookPorts, session: Session, arrived: Arrived): Promise<UserRecord> {
  const { user, method, visitor } = arrived
  const hook = ports.hooks.afterLogin
  if (!hook) return user
  try {
    await runHook(hook, arrived)
  } catch (refusal) {
    await endRefused(ports, session, visitor)
    return refuseLogin(ports, { userId: user.id, method, visitor }, refusal)
  }
  const state = await ignoreAuthError<{ user: UserRecord } | null>(ports.sessions.find(session.id), { user })
  if (state) return state.user
  return refuseLogin(ports, { userId: user.id, method, visitor }, new AuthError('invalid_credentials'))
}

/** Nobody has its tokens yet; in a list of sessions it would be somebody's that never was. */
async function endRefused(ports: LoginHookPorts, { id, userId }: Session, visitor: Visitor): Promise<void> {
  const detail = { reason: 'hook' }
  const audit = auditEvent(ports, 'session_revoked', visitor, { userId, sessionId: id, detail })
  await ports.sessions.end(id, null, { until: changeMattersUntil(ports), audit })
}
