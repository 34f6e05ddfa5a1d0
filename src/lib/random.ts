import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readableAlphabet } from './readable-code.js'

/** The one source of randomness; everything comes from the operating system's generator (OWASP ASVS 5.0, 11.5.1). */
export interface RandomSource {
  /** 16 random bytes, base64url. None begins with `-`: the tool would take it for an option. */
  id(): string
  /** 32 random bytes, base64url: a one-time token. */
  token(): string
  /** A random UUID (version 4, RFC 9562 §5.4), lower-case, 122 random bits: an API token. */
  uuid(): string
  /** That many unbiased decimal digits, leading zeros kept. @throws {RangeError} unless a positive integer */
  code(digits: number): string
  /** That many unbiased characters, 5 bits each, without look-alikes. @throws {RangeError} like `code` */
  readable(characters: number): string
  /** A number in [0, 1), to spread retries. */
  jitter(): number
}

export function createRandom(): RandomSource {
  return {
    id: newId,
    token: () => randomBytes(32).toString('base64url'),
    // Without the cache, which would hold the tokens of later calls in memory.
    uuid: () => randomUUID({ disableEntropyCache: true }),
    code: (digits) => drawn('0123456789', digits),
    readable: (characters) => drawn(readableAlphabet, characters),
    jitter: () => randomInt(2 ** 32) / 2 ** 32,
  }
}

function newId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? newId() : id
}

function drawn(alphabet: string, characters: number): string {
  if (!Number.isInteger(characters) || characters < 1) throw new RangeError('A code needs at least one character.')
  return Array.from({ length: characters }, () => alphabet[randomInt(alphabet.length)]).join('') // randomInt has no modulo bias
}

/** A secret for signing tokens: 48 random bytes, base64url. */
export function newSecret(): string {
  return randomBytes(48).toString('base64url')
}

/** A key for AES-256: 32 random bytes. */
export function newKey(): Buffer {
  return randomBytes(32)
}
