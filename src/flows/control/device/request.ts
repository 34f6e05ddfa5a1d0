import { canonicalCode } from '../../../lib/readable-code.js'
import { type DeviceRequest, parseDeviceRequest } from '../../../model/device-approval.js'
import type { OneTimeToken } from '../../../model/one-time-token.js'
import type { Ports } from '../../../ports.js'

/** The request of a tool, sealed for the store: it holds addresses and the ids of sessions. */
export function sealDevice({ keyring }: Pick<Ports, 'keyring'>, id: string, request: DeviceRequest): string {
  return keyring.seal('device-request', id, JSON.stringify(request))
}

/** A code as the terminal and the page show it, however it was typed: `QX7K-M2FD`. */
export function shownCode(code: string): string {
  const letters = canonicalCode(code).toUpperCase()
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

/** Null when the key is gone, or the row was changed. */
export function openDevice(
  { keyring }: Pick<Ports, 'keyring'>,
  { id, payload }: Pick<OneTimeToken, 'id' | 'payload'>,
): DeviceRequest | null {
  return payload === null ? null : parseDeviceRequest(keyring.open('device-request', id, payload))
}
