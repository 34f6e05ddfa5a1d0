import { type DeviceRequest, parseDeviceRequest } from '../../../model/device-approval.js'
import type { OneTimeToken } from '../../../model/one-time-token.js'
import type { Ports } from '../../../ports.js'

/** The request of a tool, sealed for the store: it holds addresses and the ids of sessions. */
export function sealDevice({ keyring }: Pick<Ports, 'keyring'>, id: string, request: DeviceRequest): string {
  return keyring.seal('device-request', id, JSON.stringify(request))
}

/** Null when the key is gone, or the row was changed. */
export function openDevice(
  { keyring }: Pick<Ports, 'keyring'>,
  { id, payload }: Pick<OneTimeToken, 'id' | 'payload'>,
): DeviceRequest | null {
  return payload === null ? null : parseDeviceRequest(keyring.open('device-request', id, payload))
}
