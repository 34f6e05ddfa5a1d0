import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'

export type LogoutPorts = Pick<Ports, 'sessions' | 'tokens' | 'clock' | 'random' | 'policy'>

/**
 * Ends the sessions that these tokens belong to. Nothing is asked of them but that we signed them: an expired or
 * superseded token still signs its session out, and without any there is nothing to do.
 */
export async function logout(
  ports: LogoutPorts,
  input: { accessToken: string | null; refreshToken: string | null; visitor: Visitor },
): Promise<void> {
  const access = input.accessToken === null ? null : ports.tokens.checkAccess(input.accessToken)
  const refresh = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  const owners = new Map([access, refresh].flatMap((claims) => (claims ? [[claims.sid, claims.sub] as const] : [])))

  for (const [sessionId, userId] of owners) {
    const ids = { userId, sessionId }
    const audit = auditEvent(ports, 'logout', signedInVisitor(input.visitor, ids), ids)
    await ports.sessions.end(sessionId, userId, { until: changeMattersUntil(ports), audit })
  }
}
