import { invalidField } from '../../../errors.js'
import { limitKey } from '../../../lib/ip-address.js'
import { canonicalCode } from '../../../lib/readable-code.js'
import type { DeviceRequest } from '../../../model/device-approval.js'
import type { OneTimeToken } from '../../../model/one-time-token.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import { auditEvent } from '../../steps/audit.js'
import { sealDevice, shownCode } from './request.js'

/** How long a code waits for an administrator. */
const deviceSeconds = 600
/** How often the tool may ask whether it was approved. */
export const deviceIntervalSeconds = 5

/** 40 bits: two groups of four characters. */
const codeCharacters = 8
/** Codes that wait at once for one client address. The newest stay. */
const codesPerAddress = 5

export interface AskedDevice {
  /** Stays with the tool, and finds the request again. */
  handle: string
  /** What the administrator types, such as `QX7K-M2FD`. */
  userCode: string
  /** Unix seconds. */
  expiresAt: number
}

/**
 * A tool without a browser asks to sign in. An administrator approves it by typing the code on the admin page (RFC 8628).
 *
 * @throws {AuthError} `invalid_request`
 */
export async function askDevice(
  ports: Pick<Ports, 'oneTimeTokens' | 'keyring' | 'clock' | 'random'>,
  { challenge, client, visitor }: { challenge: string; client: string; visitor: Visitor },
): Promise<AskedDevice> {
  if (!/^[\w-]{43}$/.test(challenge)) throw invalidField('challenge', 'must be the base64url SHA-256 of the verifier')
  if (!/^[\w.-]{1,64}$/.test(client)) throw invalidField('client', 'must be a host name')
  const handle = ports.random.token()
  const code = ports.random.readable(codeCharacters)
  const id = ports.random.id()
  const now = ports.clock.now()
  const { ip, userAgent } = visitor
  const request: DeviceRequest = { challenge, client, ip, userAgent, lookedUpBy: null, decision: null }
  const token: OneTimeToken = {
    id,
    purpose: 'device',
    subject: ip === null ? 'unknown address' : limitKey(ip),
    userId: null,
    email: '',
    tokenHash: ports.keyring.digest('device-handle', handle),
    codeHash: null,
    handleHash: ports.keyring.digest('device-code', canonicalCode(code)),
    payload: sealDevice(ports, id, request),
    tries: 0,
    createdAt: now,
    expiresAt: now + deviceSeconds,
  }
  const audit = auditEvent(ports, 'device_asked', visitor, { detail: { client } })
  await ports.oneTimeTokens.put(token, null, { keep: codesPerAddress, now, audit })
  return { handle, userCode: shownCode(code), expiresAt: token.expiresAt }
}
