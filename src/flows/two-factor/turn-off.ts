import { AuthError } from '../../errors.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { type FactorProof, withoutFactor } from '../../model/second-factor.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import { newSession, sessionInPlace } from '../session/open-session.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { type FactorPorts, factorNotice, forgetFactorTries, requireFactor } from './second-factor.js'

type TurnOffPorts = FactorPorts &
  PasswordLimitPorts &
  Pick<Ports, 'sessions' | 'passwords' | 'tokens' | 'mails' | 'policy'>

interface TurnOffInput {
  /** null where the account has none. */
  password: string | null
  /** Of the authenticator, or a backup code. */
  code: string
  mode: SessionMode
  visitor: Visitor
  /** What the browser holds of its device. */
  device: string | null
}

/**
 * Turns every second factor off, after the password and a code. Backup codes and every session go with them, the caller's
 * too, and a new one begins (ASVS 5.0, 7.4.3).
 *
 * @throws {AuthError} `not_found` when it is off, `invalid_credentials`, `recent_login_required`, `invalid_code`,
 *   `rate_limited`, `forbidden` (the other mode's session), `token_revoked`, `busy`
 */
export async function turnOffTwoFactor(
  ports: TurnOffPorts,
  principal: SessionPrincipal,
  input: TurnOffInput,
): Promise<IssuedSession> {
  const event = 'two_factor_disabled'
  const state = await readProfile(ports, principal)
  if (state.session.mode !== input.mode) throw new AuthError('forbidden')
  if (!hasFactor(state.user)) throw new AuthError('not_found')
  await requirePassword(ports, state, { ...input, event })
  const proof = await requireFactor(ports, state, { ...input, event })

  return atVersion(ports, { principal, state, refusal: 'invalid_code' }, (current) =>
    turnOff(ports, current, proof, input.visitor),
  )
}

async function turnOff(
  ports: TurnOffPorts,
  { user, session: former }: SessionState,
  proof: FactorProof,
  visitor: Visitor,
): Promise<IssuedSession | null> {
  const session = successor(ports, { user, session: former }, visitor)
  const facts = { userId: user.id, sessionId: session.id, detail: { secondFactor: proof.kind } }
  const changed = await ports.secondFactors.turnOff(
    { userId: user.id, version: user.version, fromSessionId: former.id, session, proof },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'two_factor_disabled', visitor, facts),
      ...factorNotice(ports, { user, visitor, change: 'off' }),
    },
  )
  return changed && issueTokens(ports, changed, session)
}

/** The new session has proved no second factor any more. */
function successor(ports: TurnOffPorts, state: Pick<SessionState, 'user' | 'session'>, visitor: Visitor): Session {
  const { user, session: former } = state
  if (user.passwordHash !== null) return newSession(ports, { user, mode: former.mode, amr: ['pwd'], visitor })
  return sessionInPlace(ports, state, { amr: withoutFactor(former.amr), visitor })
}

type RemovePorts = Pick<Ports, 'users' | 'mails' | 'clock' | 'random' | 'policy' | 'limiter'>

/**
 * Removes the second factor of a user who has lost it, for an administrator. Every session ends, and the user gets a notice.
 *
 * @throws {AuthError} `not_found`, also for an account without a second factor
 */
export async function removeFactor(
  ports: RemovePorts,
  { id, visitor }: { id: string; visitor: Visitor },
): Promise<void> {
  const user = await findWithFactor(ports, id)
  const removed = user && (await remove(ports, user, visitor))
  // Also when the factor is gone already, because an earlier call may have failed halfway.
  await forgetFactorTries(ports, id)
  if (!removed) throw new AuthError('not_found')
}

function remove(ports: RemovePorts, user: UserRecord, visitor: Visitor): Promise<UserRecord | null> {
  const facts = { userId: user.id, detail: { twoFactor: false } }
  return ports.users.updateAccount(
    user.id,
    { twoFactor: false },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'account_updated', visitor, facts),
      ...factorNotice(ports, { user, visitor, change: 'off' }),
    },
  )
}

/** The user, if a factor is on that can be removed; otherwise null. */
export async function findWithFactor({ users }: Pick<Ports, 'users'>, id: string): Promise<UserRecord | null> {
  const user = await users.findById(id)
  return user && hasFactor(user) ? user : null
}
