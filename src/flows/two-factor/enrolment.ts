import type { OneTimeToken } from '../../model/one-time-token.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'

/** How long an enrolment waits for the first proof of its factor. */
export const enrolmentSeconds = 10 * 60

/** Whether that session has begun an enrolment that still waits. */
export async function hasEnrolment(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>,
  sessionId: string,
): Promise<boolean> {
  return (await findEnrolment(ports, sessionId)) !== null
}

/** Only the session that began an enrolment finds it: the token's hash is a digest of the session's id. */
export function findEnrolment(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock'>,
  sessionId: string,
): Promise<OneTimeToken | null> {
  const hashes = ports.keyring.digests('two_factor_enrolment', sessionId)
  return ports.oneTimeTokens.findByHash('two_factor_enrolment', hashes, ports.clock.now())
}

/** @param payload What the account will keep of the factor, sealed. */
export function draftEnrolment(
  ports: Pick<Ports, 'keyring' | 'random' | 'clock'>,
  { user, session }: SessionState,
  payload: string,
): OneTimeToken {
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
    payload,
    tries: 0,
    createdAt: now,
    expiresAt: now + enrolmentSeconds,
  }
}
