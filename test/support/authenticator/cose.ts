import { type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { newKeyPair } from '../../../src/testing/peer-desk.js'
import { type Cbor, encodeCbor } from './cbor.js'

export type CoseName = 'ES256' | 'EdDSA' | 'RS256'

export interface CoseKey {
  /** The COSE algorithm (RFC 9053): -7, -8 or -257. */
  algorithm: number
  /** The public key as COSE (RFC 9052). */
  publicKey: Buffer
  sign(message: Uint8Array): Buffer
}

const identifiers: Readonly<Record<CoseName, number>> = { ES256: -7, EdDSA: -8, RS256: -257 }

/** A new key pair. `saying` is the algorithm that the public key names: another one than it has is a forgery. */
export function coseKey(name: CoseName, saying: number = identifiers[name]): CoseKey {
  const { privateKey, publicKey } = keyPair(name)
  const fields = new Map<number, Cbor>([[3, saying], ...coseFields(publicKey.export({ format: 'jwk' }))])
  return {
    algorithm: saying,
    publicKey: encodeCbor(new Map([...fields].sort(([one], [other]) => order(one) - order(other)))),
    sign: (message) => sign(name === 'EdDSA' ? null : 'sha256', message, privateKey),
  }
}

function keyPair(name: CoseName): { privateKey: KeyObject; publicKey: KeyObject } {
  if (name === 'ES256') return newKeyPair('P-256')
  return newKeyPair(name === 'EdDSA' ? 'ed25519' : 'rsa')
}

/** The key type and its parameters: RFC 9053 §7.1 and §7.2, RFC 8230 §4. */
function coseFields({ kty, x, y, n, e }: JsonWebKey): [number, Cbor][] {
  if (kty === 'EC')
    return [
      [1, 2],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]
  if (kty === 'OKP')
    return [
      [1, 1],
      [-1, 6],
      [-2, bytes(x)],
    ]
  return [
    [1, 3],
    [-1, bytes(n)],
    [-2, bytes(e)],
  ]
}

function bytes(part: string | undefined): Buffer {
  if (part === undefined) throw new Error('the key lacks a part')
  return Buffer.from(part, 'base64url')
}

/** The canonical order of CTAP2: 1, 3, -1, -2, -3. */
function order(label: number): number {
  return label < 0 ? 100 - label : label
}
