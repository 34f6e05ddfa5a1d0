import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'

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
    pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
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
