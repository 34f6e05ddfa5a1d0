import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'

/** A real RSA key, made when it is first needed. */
export interface PeerKey {
  /** The key set document (RFC 7517 §5). */
  keySet(): object
  /** A JWT with RS256. */
  sign(claims: object): string
}

function createPeerKey(kid: string): PeerKey {
  let pair: { publicKey: KeyObject; privateKey: KeyObject } | null = null
  const keys = () => {
    pair ??= newKeyPair('rsa')
    return pair
  }
  return {
    keySet: () => ({ keys: [{ ...keys().publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] }),
    sign(claims) {
      const text = [{ alg: 'RS256', typ: 'JWT', kid }, claims].map((part) => encode(JSON.stringify(part))).join('.')
      return `${text}.${createSign('sha256').update(text).sign(keys().privateKey, 'base64url')}`
    },
  }
}

/** One for all peers of a process: making it takes longer than most tests, and it guards nothing. */
export const peerKey = createPeerKey('peer')

/** The challenge of a PKCE verifier (RFC 7636 §4.2), and the hash that `at_hash` is half of. */
export function s256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}

const publicKeyEncoding = { type: 'spki', format: 'der' } as const
const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const

/**
 * A new key pair that can be exported as JWK. Node 20 can wait for ever while it exports a key that it has just made: a garbage
 * collection at that moment ends the job that made the key, and both wait for one lock. Keys that were read have no such job.
 *
 * @param kind `rsa` (2048 bits), `ed25519`, or a curve such as `P-256`
 */
export function newKeyPair(kind: string, modulusLength = 2048): { publicKey: KeyObject; privateKey: KeyObject } {
  const { publicKey, privateKey } = encodedPair(kind, modulusLength)
  return {
    publicKey: createPublicKey({ key: publicKey, type: 'spki', format: 'der' }),
    privateKey: createPrivateKey({ key: privateKey, type: 'pkcs8', format: 'der' }),
  }
}

function encodedPair(kind: string, modulusLength: number): { publicKey: Buffer; privateKey: Buffer } {
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength, publicKeyEncoding, privateKeyEncoding })
  if (kind === 'ed25519') return generateKeyPairSync('ed25519', { publicKeyEncoding, privateKeyEncoding })
  return generateKeyPairSync('ec', { namedCurve: kind, publicKeyEncoding, privateKeyEncoding })
}
