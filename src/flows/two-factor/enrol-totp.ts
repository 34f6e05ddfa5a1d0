import { hasFactor } from '../../model/factors/kinds.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { atVersion } from '../account/at-version.js'
import { readProfile } from '../account/profile.js'
import { requirePassword } from '../account/require-password.js'
import { requireSecondStep } from '../session/sign-in.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { draftEnrolment } from './enrolment.js'
import { type FactorPorts, requireFactor } from './second-factor.js'
import { sealSecret } from './totp-codes.js'

export type EnrolTotpPorts = FactorPorts & PasswordLimitPorts & Pick<Ports, 'sessions' | 'passwords' | 'policy'>

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
