import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import { type EndImpersonationPorts, endImpersonationById } from '../../session/logout.js'

export type StopImpersonatingPorts = EndImpersonationPorts & Pick<Ports, 'tokens'>

/**
 * Ends the impersonated session of these tokens, and the administrator's session that it came from. A token only has to be
 * signed by us, as for signing out. False when neither token is of an impersonated session; true also when it had ended before.
 */
export async function stopImpersonating(
  ports: StopImpersonatingPorts,
  input: { accessToken: string | null; refreshToken: string | null; visitor: Visitor },
): Promise<boolean> {
  const access = input.accessToken === null ? null : ports.tokens.checkAccess(input.accessToken)
  const refresh = input.refreshToken === null ? null : ports.tokens.checkRefresh(input.refreshToken)
  const ids = new Set([access, refresh].flatMap((claims) => (claims?.act === undefined ? [] : [claims.sid])))
  for (const id of ids) await endImpersonationById(ports, id, { visitor: input.visitor, reason: 'stopped' })
  return ids.size > 0
}
