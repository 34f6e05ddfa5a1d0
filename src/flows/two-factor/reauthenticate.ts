import { AuthError } from '../../errors.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { RequestOptions, SignedResponse } from '../../model/factors/webauthn.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { type FactorProof, withFactor } from '../../model/second-factor.js'
import type { SessionMode } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import { newSession } from '../session/open-session.js'
import { asksSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { type KnownUse, type PasskeyStepPorts, passkeyOptions, provePasskey } from './passkey-step.js'
import { type FactorPorts, requireFactor } from './second-factor.js'

export type ReauthenticatePorts = PasskeyStepPorts &
  FactorPorts &
  PasswordLimitPorts &
  Pick<Ports, 'sessions' | 'passwords' | 'tokens' | 'mails' | 'policy'>

export interface ReauthenticateInput {
  /** A passkey, or the password with a code where two-factor authentication is on. */
  proof: { response: SignedResponse } | { password: string; code: string | null }
  mode: SessionMode
  visitor: Visitor
  device: string | null
}

const event = 'reauthenticated'
const detail = 'This account signs in with a passkey as its second step. Confirm with the passkey.'

/**
 * Options to prove a signed-in user again with a passkey.
 *
 * @throws {AuthError} `passkeys_disabled`, `not_found` without a passkey, `token_revoked`
 */
export async function startReauthentication(
  ports: ReauthenticatePorts,
  principal: SessionPrincipal,
): Promise<RequestOptions> {
  const { user, session } = await readProfile(ports, principal)
  return passkeyOptions(ports, user, useOf(session))
}

function useOf({ id }: { id: string }): KnownUse {
  return { of: { use: 'reauthentication', holder: id }, verified: true }
}

/**
 * Proves the signed-in user again, as recent sign-ins are asked for. A new session takes the place of this one; what was proved before still
 * counts, and other sessions stay.
 *
 * @throws {AuthError} `invalid_credentials`, `invalid_code`, `password_reset_required`, `recent_login_required` (the account has a
 *   passkey as its second step: confirm with that), `invalid_token` (the challenge), `invalid_passkey`, `passkeys_disabled`, `rate_limited`, `forbidden` (the other mode's session), `token_revoked`, `busy`
 */
export async function reauthenticate(
  ports: ReauthenticatePorts,
  principal: SessionPrincipal,
  input: ReauthenticateInput,
): Promise<IssuedSession> {
  const state = await readProfile(ports, principal)
  if (state.session.mode !== input.mode) throw new AuthError('forbidden')
  const { proof, method } = await prove(ports, state, input)
  const refusal = proof?.kind === 'passkey' ? 'invalid_passkey' : 'invalid_code'
  return atVersion(ports, { principal, state, refusal }, async ({ user, session: former }) => {
    const known = method === 'password' ? [...new Set([...former.amr, 'pwd'])] : former.amr
    const amr = proof ? withFactor(known, proof) : known
    const session = newSession(ports, { user, mode: input.mode, amr, visitor: input.visitor })
    const replaced = await ports.sessions.replace({
      fromSessionId: former.id,
      session,
      version: user.version,
      proof,
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, event, input.visitor, { userId: user.id, sessionId: session.id, detail: { method } }),
    })
    return replaced ? issueTokens(ports, user, session) : null
  })
}

async function prove(
  ports: ReauthenticatePorts,
  state: SessionState,
  { proof: given, visitor, device }: ReauthenticateInput,
): Promise<{ proof: FactorProof | null; method: 'passkey' | 'password' }> {
  const { user, session } = state
  const refuse = (refusal: unknown) => recordRefusal(ports, state, { visitor, refusal })
  if ('response' in given) {
    const proved = await provePasskey(ports, { user, response: given.response, visitor }, useOf(session)).catch(refuse)
    return { proof: proved, method: 'passkey' }
  }
  if (user.passwordHash === null) throw new AuthError('invalid_credentials')
  await requirePassword(ports, state, { password: given.password, event, visitor, device })
  if (user.mustReset) return refuse(new AuthError('password_reset_required'))
  if (!hasFactor(user) && asksSecondStep(ports, user)) {
    return refuse(new AuthError('recent_login_required', { detail }))
  }
  const proof = hasFactor(user) ? await requireFactor(ports, state, { code: given.code, event, visitor, device }) : null
  return { proof, method: 'password' }
}

async function recordRefusal(
  ports: Pick<Ports, 'audit' | 'clock' | 'random'>,
  { user, session }: SessionState,
  { visitor, refusal }: { visitor: Visitor; refusal: unknown },
): Promise<never> {
  if (refusal instanceof AuthError && refusal.status < 500) {
    const facts = { userId: user.id, sessionId: session.id, outcome: 'failure' } as const
    await ports.audit.record(auditEvent(ports, event, visitor, { ...facts, detail: { reason: refusal.code } }))
  }
  throw refusal
}
