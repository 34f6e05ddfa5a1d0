import { signedInVisitor, type Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { type EndImpersonationPorts, endImpersonationById } from './end-impersonation.js'

export type LogoutPorts = EndImpersonationPorts & Pick<Ports, 'tokens'>

/**
 * Ends the sessions that these tokens belong to. A token only has to be signed by us: an expired or replaced one still signs
 * its session out. Without a token there is nothing to do.
 */
export async function logout(
  ports: LogoutPorts,
  input: { accessToken: string | null; refreshToken: string | null; visitor: Visitor },
): Promise<void> {
  const access = input.accessToken === null ? null : ports.tokens.checkAccess(input.accessToken)
  const refresh = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  const owners = new Map([access, refresh].flatMap((claims) => (claims ? [[claims.sid, claims] as const] : [])))

  for (const [sessionId, { sub: userId, act }] of owners) {
    if (act !== undefined) {
      await endImpersonationById(ports, sessionId, { visitor: input.visitor, reason: 'signed_out' })
      continue
    }
    const ids = { userId, sessionId }
    const audit = auditEvent(ports, 'logout', signedInVisitor(input.visitor, ids), ids)
    await ports.sessions.end(sessionId, userId, { until: changeMattersUntil(ports), audit })
  }
}
