import { AuthError } from '../../errors.js'
import { asImpersonated } from '../../model/session.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import type { SessionState } from '../../store/sessions.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'

/**
 * Two holders used tokens of one session. Ends the session for both, records it and notifies the user.
 *
 * @throws {AuthError} `token_revoked`, always
 */
export async function endAsTheft(
  ports: Pick<Ports, 'sessions' | 'clock' | 'random' | 'policy' | 'mails'>,
  { session, user }: SessionState,
  visitor: Visitor,
): Promise<never> {
  await ports.sessions.end(session.id, null, {
    until: changeMattersUntil(ports),
    impersonated: asImpersonated(session),
    audit: auditEvent(ports, 'refresh_token_reuse', visitor, {
      userId: user.id,
      sessionId: session.id,
      outcome: 'failure',
    }),
    ...notice(ports, 'refresh-reuse', { user, userAgent: session.userAgent }),
  })
  throw new AuthError('token_revoked')
}
