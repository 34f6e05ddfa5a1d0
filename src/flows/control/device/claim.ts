import { AuthError } from '../../../errors.js'
import { sha256 } from '../../../lib/digest.js'
import { isProved, rolesOf } from '../../../model/admin-role.js'
import type { DeviceDecision } from '../../../model/device-approval.js'
import { isDisabled, type UserRecord } from '../../../model/user.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import { type OpenSessionPorts, openSession } from '../../session/open-session.js'
import type { IssuedSession } from '../../steps/issue-tokens.js'
import { requireRoom } from '../require-admin.js'
import { openDevice } from './request.js'

export type ClaimDevicePorts = OpenSessionPorts & Pick<Ports, 'oneTimeTokens' | 'keyring' | 'limiter' | 'rights'>

/**
 * The tool asks whether it was approved. Then it gets a session with the administrator's methods and time of sign-in, once.
 *
 * @returns null while the administrator has not answered
 * @throws {AuthError} `invalid_token` (unknown, expired, denied, used, and with another verifier look alike), `rate_limited`
 *   when it asks more often than every five seconds
 */
export async function claimDevice(
  ports: ClaimDevicePorts,
  { handle, verifier, visitor }: { handle: string; verifier: string; visitor: Visitor },
): Promise<IssuedSession | null> {
  const { oneTimeTokens, keyring, clock } = ports
  const token = await oneTimeTokens.findByHash('device', keyring.digests('device-handle', handle), clock.now())
  const request = token && openDevice(ports, token)
  if (!token || !request || sha256(verifier) !== request.challenge) throw new AuthError('invalid_token')
  await requireRoom(ports, 'devicePoll', token.id)
  const { decision, client } = request
  if (decision === null) return null
  const user = decision.approved ? await findApprover(ports, decision) : null
  // Of concurrent requests, one claims the approval.
  const claimed = await oneTimeTokens.claim(token.id, 'device', 'device_claimed', clock.now())
  if (!user || !claimed) throw new AuthError('invalid_token')
  return openSession(ports, {
    user,
    mode: 'token',
    method: 'device',
    amr: [...new Set([...decision.amr, 'device'])],
    authTime: decision.authTime,
    visitor: { ...visitor, userAgent: `latchkey on ${client}` },
    device: null,
  })
}

/** The administrator, if the session that approved still lives and the account still has a right. */
async function findApprover(ports: ClaimDevicePorts, decision: DeviceDecision): Promise<UserRecord | null> {
  const now = ports.clock.now()
  const state = await ports.sessions.find(decision.sessionId)
  if (!state || state.user.id !== decision.userId || state.session.expiresAt <= now) return null
  const { user } = state
  const roles = rolesOf(user, ports.policy.adminEmails)
  const right = ports.rights.of({ userId: user.id, emailVerified: isProved(user), roles })
  return !isDisabled(user, now) && right !== null ? user : null
}
