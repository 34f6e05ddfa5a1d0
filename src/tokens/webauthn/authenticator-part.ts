import { sha256 } from '../../lib/digest.js'

/** The head of the authenticator data (WebAuthn §6.1). What may follow is left to the library. */
export interface AuthenticatorData {
  /** SHA-256, base64url. */
  rpIdHash: string
  userPresent: boolean
  userVerified: boolean
  /** BE */
  synced: boolean
  /** BS */
  backedUp: boolean
  signCount: number
}

const headBytes = 37
const flagsAt = 32
const countAt = 33

/** Null for data that are too short. */
export function readAuthenticatorData(bytes: Uint8Array): AuthenticatorData | null {
  if (bytes.length < headBytes) return null
  const data = Buffer.from(bytes)
  const flags = data.readUInt8(flagsAt)
  return {
    rpIdHash: data.subarray(0, flagsAt).toString('base64url'),
    userPresent: (flags & 0x01) !== 0,
    userVerified: (flags & 0x04) !== 0,
    synced: (flags & 0x08) !== 0,
    backedUp: (flags & 0x10) !== 0,
    signCount: data.readUInt32BE(countAt),
  }
}

export function isOfSite(data: AuthenticatorData, rpId: string): boolean {
  return data.rpIdHash === sha256(rpId)
}
