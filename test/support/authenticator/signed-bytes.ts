import { createHash } from 'node:crypto'

export interface AuthenticatorData {
  rpId: string
  /** UP: the user touched the authenticator. */
  userPresent: boolean
  /** UV: it checked a PIN, a finger or a face. */
  userVerified: boolean
  /** BE: the passkey can be synchronised. */
  synced: boolean
  /** BS: it is. */
  backedUp: boolean
  counter: number
}

export interface AttestedCredential {
  /** 16 bytes in hex, with or without hyphens. */
  aaguid: string
  credentialId: Buffer
  publicKey: Buffer
}

/** WebAuthn L3 §6.1. */
export function authenticatorData(data: AuthenticatorData, attested?: AttestedCredential): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32BE(data.counter)
  return Buffer.concat([sha256(data.rpId), Buffer.from([flags(data, attested)]), counter, attestedBytes(attested)])
}

export function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}

function flags(data: AuthenticatorData, attested: AttestedCredential | undefined): number {
  const bits = [data.userPresent, false, data.userVerified, data.synced, data.backedUp, false, attested !== undefined]
  return bits.reduce((sum, set, bit) => sum | (set ? 1 << bit : 0), 0)
}

/** WebAuthn L3 §6.5.1. */
function attestedBytes(attested: AttestedCredential | undefined): Buffer {
  if (!attested) return Buffer.alloc(0)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(attested.credentialId.length)
  const aaguid = Buffer.from(attested.aaguid.replaceAll('-', ''), 'hex')
  return Buffer.concat([aaguid, length, attested.credentialId, attested.publicKey])
}
