import { AuthError } from '../../errors.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { type FactorProof, withoutFactor } from '../../model/second-factor.js'
import type { Session, SessionMode } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { atVersion } from '../account/at-version.js'
import { readProfile } from '../account/profile.js'
import { requirePassword } from '../account/require-password.js'
import { newSession, sessionInPlace } from '../session/open-session.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { type FactorPorts, factorNotice, requireFactor } from './second-factor.js'

export type TurnOffPorts = FactorPorts &
  PasswordLimitPorts &
  Pick<Ports, 'sessions' | 'passwords' | 'tokens' | 'mails' | 'policy'>

export interface TurnOffInput {
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
