import type { OneTimeToken } from '../../model/one-time-token.js'
import type { SessionPrincipal } from '../../model/principal.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { atVersion } from '../account/at-version.js'
import { readProfile } from '../account/profile.js'
import { requirePassword } from '../account/require-password.js'
import type { PasswordLimitPorts } from '../steps/account-limits.js'
import { type FactorPorts, requireFactor, sealSecret } from './second-factor.js'

export type EnrolTotpPorts = FactorPorts & PasswordLimitPorts & Pick<Ports, 'sessions' | 'passwords' | 'policy'>

/** How long the first code may be waited for. */
export const enrolmentSeconds = 10 * 60

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
 * (ASVS 5.0, 7.5.1).
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
  await requirePassword(ports, state, { ...input, event })
  const proof = state.user.totp === null ? null : await requireFactor(ports, state, { ...input, event })

  const secret = await ports.authenticator.newSecret()
  await atVersion(ports, { principal, state, refusal: 'invalid_code' }, async (current) => {
    const { id: userId, version } = current.user
    const token = draftEnrolment(ports, current, secret)
    const proved = proof && { userId, version, proof }
    return (await ports.secondFactors.beginEnrolment(token, ports.clock.now(), proved)) || null
  })

  const account = state.user.emailCanonical
  const uri = await ports.authenticator.uri({ secret, account, issuer: ports.policy.issuer })
  return { secret, uri, qrCode: await ports.authenticator.qrCode(uri) }
}

/** Whether that session has begun one that waits for its first code. */
export async function hasEnrolment(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>,
  sessionId: string,
): Promise<boolean> {
  const hashes = enrolmentHashes(ports, sessionId)
  return (await ports.oneTimeTokens.findByHash('two_factor_enrolment', hashes, ports.clock.now())) !== null
}

/** Found by its session, whose id is all that it is a digest of. */
export function enrolmentHashes(ports: Pick<Ports, 'keyring'>, sessionId: string): string[] {
  return ports.keyring.digests('two_factor_enrolment', sessionId)
}

function draftEnrolment(ports: EnrolTotpPorts, { user, session }: SessionState, secret: string): OneTimeToken {
  const now = ports.clock.now()
  return {
    id: ports.random.id(),
    purpose: 'two_factor_enrolment',
    subject: user.id,
    userId: user.id,
    email: user.emailCanonical,
    tokenHash: ports.keyring.digest('two_factor_enrolment', session.id),
    codeHash: null,
    handleHash: null,
    payload: sealSecret(ports, user.id, secret),
    tries: 0,
    createdAt: now,
    expiresAt: now + enrolmentSeconds,
  }
}
