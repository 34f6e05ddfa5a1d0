import { AuthError } from '../../errors.js'
import { withoutGaps } from '../../lib/readable-code.js'
import { hasFactor } from '../../model/factors/kinds.js'
import type { Totp } from '../../model/factors/totp.js'
import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionPrincipal } from '../../model/principal.js'
import { type BackupCode, withFactor } from '../../model/second-factor.js'
import type { SessionMode } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { readProfile } from '../account/profile.js'
import { atVersion, requirePassword } from '../account/require-password.js'
import { sessionInPlace } from '../session/open-session.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil, type IssuedSession, issueTokens } from '../steps/issue-tokens.js'
import { draftBackupCodes } from './backup-codes.js'
import { draftEnrolment, findEnrolment } from './enrolment.js'
import { type FactorPorts, factorNotice, factorTries, forgetFactorTries, requireFactor } from './second-factor.js'
import { openSecret, sealSecret } from './totp-codes.js'

type EnrolTotpPorts = FactorPorts & PasswordLimitPorts & Pick<Ports, 'sessions' | 'passwords' | 'policy'>

export interface Enrolment {
  /** Base32, to be typed in where nothing can be scanned. Shown once. */
  secret: string
  /** What authenticator apps read. */
  uri: string
  /** The same as a picture: the data URI of an SVG. */
  qrCode: string
}

/**
 * Makes a secret for an authenticator app. Nothing changes until a code of it is confirmed, by this same session.
 *
 * Where a factor is on, a code of it is needed too, so that a stolen session and password cannot replace it
 * (ASVS 5.0, 7.5.1). Where the second step is a passkey, this session must have passed it.
 *
 * @throws {AuthError} `invalid_credentials`, `recent_login_required`, `invalid_code`, `rate_limited`, `token_revoked`, `busy`
 */
export async function enrolTotp(
  ports: EnrolTotpPorts,
  principal: SessionPrincipal,
  input: { password: string | null; code: string | null; visitor: Visitor; device: string | null },
): Promise<Enrolment> {
  const event = 'two_factor_enabled'
  const state = await readProfile(ports, principal)
  const hasCode = hasFactor(state.user)
  if (!hasCode) requireSecondStep(ports, state)
  await requirePassword(ports, state, { ...input, event })
  const proof = hasCode ? await requireFactor(ports, state, { ...input, event }) : null

  const secret = await ports.authenticator.newSecret()
  await atVersion(ports, { principal, state, refusal: 'invalid_code' }, async (current) => {
    const { id: userId, version } = current.user
    const token = draftEnrolment(ports, current, sealSecret(ports, userId, secret))
    const proved = proof && { userId, version, proof }
    return (await ports.secondFactors.beginEnrolment(token, ports.clock.now(), proved)) || null
  })

  const account = state.user.emailCanonical
  const uri = await ports.authenticator.uri({ secret, account, issuer: ports.policy.issuer })
  return { secret, uri, qrCode: await ports.authenticator.qrCode(uri) }
}

type ConfirmTotpPorts = FactorPorts & Pick<Ports, 'sessions' | 'oneTimeTokens' | 'tokens' | 'mails' | 'policy'>

interface ConfirmTotpInput {
  code: string
  mode: SessionMode
  visitor: Visitor
}

/**
 * Turns the second factor on by the first code of the authenticator, which is used up by it. Every session ends, the
 * caller's too, and a new one begins that has proved the factor (ASVS 5.0, 7.4.3).
 *
 * Wrong codes count against the enrolment alone. Its session has seen the secret, so there is nothing to guess, and guesses of
 * others at the account must not keep its owner from turning a factor on.
 *
 * @throws {AuthError} `invalid_token` when this session has begun no enrolment, or it was replaced, expired, or guessed
 *   at too often, `invalid_code`, `forbidden` (the other mode's session), `token_revoked`, `busy`
 */
export async function confirmTotp(
  ports: ConfirmTotpPorts,
  principal: SessionPrincipal,
  input: ConfirmTotpInput,
): Promise<{ issued: IssuedSession; backupCodes: readonly string[] }> {
  const state = await readProfile(ports, principal)
  if (state.session.mode !== input.mode) throw new AuthError('forbidden')
  const token = await findEnrolment(ports, state.session.id)
  if (!token) throw new AuthError('invalid_token')
  if (!(await ports.oneTimeTokens.countTry(token.id, factorTries))) throw new AuthError('invalid_token')

  const factor = await provenFactor(ports, token, state, input)
  const { readable, kept } = draftBackupCodes(ports, state.user.id)
  await forgetFactorTries(ports, state.user.id)
  const issued = await atVersion(ports, { principal, state, refusal: 'invalid_token' }, (current) =>
    turnOn(ports, current, { enrolmentId: token.id, factor, backupCodes: kept }, input.visitor),
  )
  return { issued, backupCodes: readable }
}

/** The factor for the account, proved by its first code. */
async function provenFactor(
  ports: ConfirmTotpPorts,
  { payload }: OneTimeToken,
  { user, session }: SessionState,
  { code, visitor }: ConfirmTotpInput,
): Promise<Totp> {
  const secret = payload && openSecret(ports, user.id, payload)
  if (!secret) throw new AuthError('invalid_token')
  const now = ports.clock.now()
  const step = await ports.authenticator.stepOf(secret, withoutGaps(code), null, now)
  if (step !== null) {
    return { kind: 'totp', sealedSecret: sealSecret(ports, user.id, secret), lastStep: step, enabledAt: now }
  }

  const facts = {
    userId: user.id,
    sessionId: session.id,
    outcome: 'failure',
    detail: { reason: 'invalid_code' },
  } as const
  await ports.audit.record(auditEvent(ports, 'two_factor_enabled', visitor, facts))
  throw new AuthError('invalid_code')
}

async function turnOn(
  ports: ConfirmTotpPorts,
  { user, session: former }: SessionState,
  enrolled: { enrolmentId: string; factor: Totp; backupCodes: readonly BackupCode[] },
  visitor: Visitor,
): Promise<IssuedSession | null> {
  const amr = withFactor(former.amr, { kind: 'totp', step: enrolled.factor.lastStep })
  // The code only shows that the app has the secret. The user was proved before.
  const session = sessionInPlace(ports, { user, session: former }, { amr, visitor })
  const changed = await ports.secondFactors.turnOn(
    { userId: user.id, version: user.version, fromSessionId: former.id, session, ...enrolled },
    {
      until: changeMattersUntil(ports),
      audit: auditEvent(ports, 'two_factor_enabled', visitor, { userId: user.id, sessionId: session.id }),
      ...factorNotice(ports, { user, visitor, change: 'on' }),
    },
  )
  return changed && issueTokens(ports, changed, session)
}
