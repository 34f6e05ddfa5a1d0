import { createHash, hkdfSync } from 'node:crypto'

/** Derives that many bytes from a secret with HKDF-SHA-256 (RFC 5869); every `info` gives an unrelated key. */
export function deriveKey(secret: string, info: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', info, bytes))
}

/**
 * An id of a secret that may be stored beside what the secret signed or sealed: 8 base64url characters. It is derived like
 * a key. A plain hash would identify the same secret in other systems, too.
 */
export function deriveKeyId(secret: string, info: string): string {
  return deriveKey(secret, info, 6).toString('base64url')
}

/** SHA-256 of the text, base64url. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
