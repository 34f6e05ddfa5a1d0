import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { deriveKey, deriveKeyId } from './digest.js'

/**
 * Keyed digests and sealing under the `encryptionKey` setting. HKDF (RFC 5869) makes one key for each purpose, so a digest
 * or a sealed text of one purpose is invalid for another. Every result names its key: `<key id>.<rest>`.
 */
export interface Keyring {
  /** HMAC-SHA-256 under the newest key. */
  digest(purpose: string, value: string): string
  /** The digests under every key, newest first. A stored digest equals one of them. */
  digests(purpose: string, value: string): string[]
  /** AES-256-GCM under the newest key; `context` is authenticated with it. */
  seal(purpose: string, context: string, text: string): string
  /** Opens what `seal` made; null when the key is gone or anything was changed. */
  open(purpose: string, context: string, sealed: string): string | null
  /** Ids of all keys, newest first. */
  keyIds: readonly string[]
}

/** One secret: its id and the keys derived from it, each on first use. */
interface RingKey {
  id: string
  keyFor(use: 'digest' | 'seal', purpose: string): Buffer
}

const nonceBytes = 12
const tagBytes = 16

/**
 * Makes the keyring of these secrets. The first secret makes new digests and seals; all of them can read.
 *
 * AES-GCM with random nonces carries 2^32 seals a key (NIST SP 800-38D §8.3); each purpose has a key of its own.
 *
 * @throws {TypeError} without a secret
 * @example const keyring = createKeyring(settings.encryptionKeys)
 */
export function createKeyring(secrets: readonly string[]): Keyring {
  const ring = [...new Set(secrets)].map(createRingKey)
  const [newest] = ring
  if (!newest) throw new TypeError('A keyring needs at least one secret.')

  return {
    digest: (purpose, value) => digestUnder(newest, purpose, value),
    digests: (purpose, value) => ring.map((key) => digestUnder(key, purpose, value)),
    seal: (purpose, context, text) => sealUnder(newest, purpose, context, text),
    open: (purpose, context, sealed) => openUnder(ring, purpose, context, sealed),
    keyIds: Object.freeze(ring.map((key) => key.id)),
  }
}

function createRingKey(secret: string): RingKey {
  const derived = new Map<string, Buffer>()

  function keyFor(use: 'digest' | 'seal', purpose: string): Buffer {
    const info = `latchkey/${use}/${purpose}`
    const known = derived.get(info)
    if (known) return known

    const key = deriveKey(secret, info, 32)
    derived.set(info, key)
    return key
  }

  return { id: deriveKeyId(secret, 'latchkey/key-id'), keyFor }
}

function digestUnder(key: RingKey, purpose: string, value: string): string {
  return `${key.id}.${createHmac('sha256', key.keyFor('digest', purpose)).update(value).digest('base64url')}`
}

function sealUnder(key: RingKey, purpose: string, context: string, text: string): string {
  return `${key.id}.${sealBytes(key.keyFor('seal', purpose), [purpose, context], Buffer.from(text))}`
}

function openUnder(ring: readonly RingKey[], purpose: string, context: string, sealed: string): string | null {
  const dot = sealed.indexOf('.')
  const key = ring.find(({ id }) => id === sealed.slice(0, dot))
  if (!key) return null
  return openBytes(key.keyFor('seal', purpose), [purpose, context], sealed.slice(dot + 1))?.toString('utf8') ?? null
}

/**
 * AES-256-GCM with a random 96-bit nonce; the context is authenticated. Base64url of nonce, ciphertext and tag.
 *
 * @param key 32 bytes
 */
export function sealBytes(key: Buffer, context: readonly string[], plain: Uint8Array): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(authenticated(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Opens what `sealBytes` made. Null for another key or context, and when anything was changed. */
export function openBytes(key: Buffer, context: readonly string[], sealed: string): Buffer | null {
  const bytes = canonicalBytes(sealed)
  if (!bytes || bytes.length < nonceBytes + tagBytes) return null

  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  cipher.setAAD(authenticated(context))
  cipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([cipher.update(bytes.subarray(nonceBytes, -tagBytes)), cipher.final()])
  } catch {
    return null // the authentication tag does not match: the text was changed, or sealed under another key or context
  }
}

/** The parts, each after its length, so that two different lists never read the same. */
function authenticated(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** The bytes of the one canonical spelling. Buffer also accepts stray characters and bits, which count as changes. */
function canonicalBytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
