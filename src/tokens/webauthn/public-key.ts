import { createPublicKey, type JsonWebKey } from 'node:crypto'

/** A COSE key as the library reads it: its values by label (RFC 9052 §7.1, RFC 9053 §7). */
export interface CoseKey {
  get(label: number): unknown
}

/** The label `alg`. */
const algorithmLabel = 3

/** The least modulus of an RSA key, in bits (RFC 8812 §2). */
const leastRsaBits = 2_048

/** The COSE algorithm that the key names. */
export function algorithmOf(key: CoseKey): number | undefined {
  const algorithm = key.get(algorithmLabel)
  return typeof algorithm === 'number' ? algorithm : undefined
}

/**
 * Whether Node takes the key for the algorithm that it names: a point of the curve, and no short RSA key.
 *
 * @throws {Error} for a key that is none
 */
export function isSound(key: CoseKey): boolean {
  const jwk = toJwk(key)
  if (jwk === null) return false
  const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
  return jwk.kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= leastRsaBits
}

/** Of the algorithms that a registration takes. */
function toJwk(key: CoseKey): JsonWebKey | null {
  const [type, first, second, third] = [1, -1, -2, -3].map((label) => key.get(label))
  const algorithm = algorithmOf(key)
  if (algorithm === -7 && type === 2 && first === 1) {
    return { kty: 'EC', crv: 'P-256', x: textOf(second), y: textOf(third) }
  }
  if (algorithm === -8 && type === 1 && first === 6) return { kty: 'OKP', crv: 'Ed25519', x: textOf(second) }
  if (algorithm === -257 && type === 3) return { kty: 'RSA', n: textOf(first), e: textOf(second) }
  return null
}

function textOf(value: unknown): string {
  if (!(value instanceof Uint8Array)) throw new TypeError('A part of a key is bytes.')
  return Buffer.from(value).toString('base64url')
}
