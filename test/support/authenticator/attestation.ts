import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Cbor, encodeCbor } from './cbor.js'
import type { CoseKey } from './cose.js'

/** `none`, or a packed statement: signed with the key itself, or with a certificate that no authority vouches for. */
export type Attestation = 'none' | 'self' | 'x5c'

/** The attestation object of WebAuthn L3 §6.5. `signed` is the authenticator data and the hash of the client data. */
export function attestationObject(kind: Attestation, key: CoseKey, data: Buffer, signed: Buffer): Buffer {
  return encodeCbor(
    new Map<string, Cbor>([
      ['fmt', kind === 'none' ? 'none' : 'packed'],
      ['attStmt', new Map(statement(kind, key, signed))],
      ['authData', data],
    ]),
  )
}

/** WebAuthn L3 §8.2. */
function statement(kind: Attestation, key: CoseKey, signed: Buffer): [string, Cbor][] {
  if (kind === 'none') return []
  if (kind === 'self')
    return [
      ['alg', key.algorithm],
      ['sig', key.sign(signed)],
    ]
  const { certificate, privateKey } = certified()
  const signature = sign('sha256', signed, createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }))
  return [
    ['alg', -7],
    ['sig', signature],
    ['x5c', [certificate]],
  ]
}

function certified(): { certificate: Buffer; privateKey: Buffer } {
  const file = new URL('../../vectors/attestation-certificate.json', import.meta.url)
  const { certificate, privateKey } = JSON.parse(readFileSync(file, 'utf8'))
  return { certificate: Buffer.from(certificate, 'base64'), privateKey: Buffer.from(privateKey, 'base64') }
}
