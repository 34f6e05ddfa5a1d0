import { AuthError, invalidField } from '../../../errors.js'
import { coarseNetwork, isLoopbackIp } from '../../../lib/ip-address.js'
import { canonicalCode } from '../../../lib/readable-code.js'
import type { AuditEvent } from '../../../model/audit-event.js'
import type { DeviceRequest } from '../../../model/device-approval.js'
import type { OneTimeToken } from '../../../model/one-time-token.js'
import type { SessionPrincipal } from '../../../model/principal.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import { auditEvent } from '../../steps/audit.js'
import { requireRoom } from '../require-admin.js'
import { openDevice, sealDevice } from './request.js'

export type AnswerDevicePorts = Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'random' | 'limiter'>

/** A request that this session looked up. */
interface OwnRequest {
  token: OneTimeToken
  request: DeviceRequest
}

/** The administrator who typed the code. */
interface Approver {
  userCode: string
  principal: SessionPrincipal
  visitor: Visitor
}

/** What the administrator sees before the answer. */
export interface FoundDevice {
  /** The host name of the tool's machine, as the tool gives it. */
  client: string
  ip: string | null
  userAgent: string | null
  /** Unix seconds. */
  askedAt: number
  /** Whether the administrator's request comes from the network that the tool asked from. */
  sameNetwork: boolean
}

/**
 * Shows who asks to sign in. The first session that looks a code up is the only one that may answer it, so that a copied code
 * is of no use in another browser.
 *
 * @throws {AuthError} `invalid_token`, `rate_limited` after five wrong codes of a session or 20 of an account
 */
export async function lookUpDevice(ports: AnswerDevicePorts, approver: Approver): Promise<FoundDevice> {
  const { token, request } = await findOwn(ports, approver)
  const { client, ip, userAgent } = request
  return { client, ip, userAgent, askedAt: token.createdAt, sameNetwork: isNear(request, approver) }
}

/**
 * Approves or denies the sign-in of a tool. An approval from another network must repeat the host name of the tool's machine.
 *
 * @throws {AuthError} `invalid_token`, `invalid_request` for another host name, `rate_limited`
 */
export async function answerDevice(
  ports: AnswerDevicePorts,
  { approve, client, ...approver }: Approver & { approve: boolean; client: string | undefined },
): Promise<void> {
  const { token, request } = await findOwn(ports, approver)
  if (approve && !isNear(request, approver) && client?.trim().toLowerCase() !== request.client.toLowerCase()) {
    const message = 'must be the host name of the machine that asks, because it is in another network'
    throw invalidField('client', message)
  }
  const { userId, sessionId, authTime, amr } = approver.principal
  const decision = { approved: approve, userId, sessionId, authTime, amr }
  const event = approve ? 'device_approved' : 'device_denied'
  const audit = auditEvent(ports, event, approver.visitor, { userId, detail: { client: request.client } })
  if (!(await reseal(ports, token, { ...request, decision }, audit))) throw new AuthError('invalid_token')
}

/** The request with that code, if this session looked it up or is the first to do so. */
async function findOwn(ports: AnswerDevicePorts, { userCode, principal }: Approver): Promise<OwnRequest> {
  const { userId, sessionId } = principal
  await requireRoom(ports, 'deviceCode', `session ${sessionId}`)
  await requireRoom(ports, 'deviceCodes', userId)
  const hashes = ports.keyring.digests('device-code', canonicalCode(userCode))
  const [token] = await ports.oneTimeTokens.listByHandle('device', hashes, ports.clock.now())
  const found = token && (await claim(ports, token, sessionId))
  if (!found) throw new AuthError('invalid_token')
  await ports.limiter.forget('deviceCode', [`session ${sessionId}`])
  return found
}

/** Null when another session was first, or the request was answered. */
async function claim(ports: AnswerDevicePorts, token: OneTimeToken, sessionId: string): Promise<OwnRequest | null> {
  const request = openDevice(ports, token)
  if (!request || request.decision) return null
  if (request.lookedUpBy !== null) return request.lookedUpBy === sessionId ? { token, request } : null
  const claimed = { ...request, lookedUpBy: sessionId }
  if (!(await reseal(ports, token, claimed))) return null
  return { token: { ...token, tries: token.tries + 1 }, request: claimed }
}

/** Of concurrent sessions, one looks the request up, and of concurrent answers, one counts: `tries` tells what is outdated. */
function reseal(
  ports: AnswerDevicePorts,
  { id, tries }: OneTimeToken,
  request: DeviceRequest,
  audit?: AuditEvent,
): Promise<boolean> {
  const options = { purpose: 'device', tries, now: ports.clock.now(), ...(audit && { audit }) } as const
  return ports.oneTimeTokens.reseal(id, sealDevice(ports, id, request), options)
}

/** On one machine, a browser may come from `::1` and the tool from `127.0.0.1`. */
function isNear(request: DeviceRequest, { visitor }: Approver): boolean {
  if (isLoopbackIp(request.ip) && isLoopbackIp(visitor.ip)) return true
  const network = coarseNetwork(request.ip)
  return network !== null && network === coarseNetwork(visitor.ip)
}
