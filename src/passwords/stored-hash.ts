import { isTooCostly, type ReadHash } from './recipe.js'
import { readArgon2id } from './schemes/argon2id.js'
import { readBcrypt } from './schemes/bcrypt.js'
import { readPbkdf2 } from './schemes/pbkdf2.js'
import { readScrypt } from './schemes/scrypt.js'

/** A stored text that can be compared with. */
export interface StoredHash extends ReadHash {
  /** Id of our own scheme's pepper, `-` for none; null for an imported hash. */
  pepperId: string | null
}

const longest = 512
const ownPattern = /^hmac-sha384:(-|[\w-]{8}):(\$(?:2b|argon2id)\$.+)$/

/** Reads a stored hash; null for anything else, and for a hash that would occupy a thread too long. */
export function readStoredHash(stored: string | null): StoredHash | null {
  const hash = readAnyHash(stored)
  return hash && (hash.pepperId !== null || !isTooCostly(hash)) ? hash : null
}

/** The same, however long the hash takes. */
export function readAnyHash(stored: string | null): StoredHash | null {
  if (typeof stored !== 'string' || stored.length > longest) return null

  const [, pepperId, own] = ownPattern.exec(stored) ?? []
  if (pepperId !== undefined && own !== undefined) {
    const hash = readBcrypt(own) ?? readArgon2id(own)
    return hash && { ...hash, pepperId }
  }
  const hash = readBcrypt(stored) ?? readArgon2id(stored) ?? readScrypt(stored) ?? readPbkdf2(stored)
  return hash && { ...hash, pepperId: null }
}

/** `hmac-sha384:<pepper id>:$2b$12$…` or `hmac-sha384:<pepper id>:$argon2id$…` */
export function writeStoredHash(pepperId: string, hash: string): string {
  return `hmac-sha384:${pepperId}:${hash}`
}

/** A dummy hash with the scheme and parameters of that name; null when there is no such scheme. */
export function hashNamed(name: string): StoredHash | null {
  const zeros = (bytes: number) => Buffer.alloc(bytes).toString('base64').replace(/=+$/, '')
  return readAnyHash(name.startsWith('$2b$') ? `${name}$${'.'.repeat(53)}` : `${name}$${zeros(16)}$${zeros(32)}`)
}
