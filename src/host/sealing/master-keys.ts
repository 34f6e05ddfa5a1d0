import { createHmac, timingSafeEqual } from 'node:crypto'
import { SettingsError } from '../../errors.js'
import { deriveKey, deriveKeyId } from '../../lib/digest.js'
import { openBytes, sealBytes } from '../../lib/keyring.js'
import { newKey } from '../../lib/random.js'

/** The master keys of a host. They wrap the data keys of its spaces, and sign its backups. */
export interface MasterKeys {
  /** Ids of all keys. An id reveals nothing about its key. The first key wraps, all of them unwrap. */
  readonly ids: readonly string[]
  /** The data key of a space, sealed under the first key: `<key id>.<sealed>`. */
  wrap(space: string, dataKey: Buffer): string
  /** @throws {SealingError} `master_key_missing`, `row_changed` */
  unwrap(space: string, wrapped: string): Buffer
  /** Proves that this installation wrote the text: HMAC-SHA-256 with a key of its own, derived from the first key. */
  sign(text: string): Signature
  /** `foreign`: none of the keys has that id. */
  verify(text: string, signature: Signature): 'valid' | 'wrong' | 'foreign'
}

export interface Signature {
  keyId: string
  /** base64url */
  mac: string
}

const keyBytes = 32
const purpose = 'data-key'

/** A new master key as text: 32 random bytes in base64. */
export function newMasterKey(): string {
  return newKey().toString('base64')
}

/**
 * Reads master keys: each is 32 bytes in base64, as `openssl rand -base64 32` prints them. A text has one a line.
 *
 * @throws {SettingsError} `masterKey`, with the line; it never shows what stands there
 */
export function parseMasterKeys(written: string | readonly string[]): MasterKeys {
  const lines = (typeof written === 'string' ? written.split('\n') : written).map((line) => line.trim())
  const faulty = lines.findIndex((line) => line !== '' && !isKey(line))
  if (faulty !== -1) {
    throw masterKeyFault(`Line ${faulty + 1} is not 32 bytes in base64. Make a key with: openssl rand -base64 32`)
  }
  const keys = [...new Set(lines.filter((line) => line !== ''))]
  if (keys.length === 0) throw masterKeyFault('It holds no key. Make one with: openssl rand -base64 32')
  return createMasterKeys(keys)
}

/** The error of a master key that stops the start. */
export function masterKeyFault(message: string): SettingsError {
  return new SettingsError([{ setting: 'masterKey', message }])
}

/**
 * Checks that every key which has wrapped a stored data key is there. Without it, spaces would start with an empty environment.
 *
 * @throws {SettingsError} `masterKey`, with the ids of the missing keys
 */
export function requireMasterKeys(keys: Pick<MasterKeys, 'ids'>, stored: readonly string[]): void {
  const missing = [...new Set(stored)].filter((id) => !keys.ids.includes(id))
  if (missing.length === 0) return
  throw masterKeyFault(
    `The environment of spaces is sealed under ${missing.join(', ')}; the given keys are ${keys.ids.join(', ')}. ` +
      'Add the line of each missing key below the first.',
  )
}

/** The id of the master key that wrapped a data key. */
export function wrappingKeyOf(wrapped: string): string {
  return keyIdOf(wrapped)
}

function createMasterKeys(texts: readonly string[]): MasterKeys {
  const keys = texts.map((text) => ({
    id: deriveKeyId(text, 'latchkey/master-key-id'),
    key: deriveKey(text, 'latchkey/master-key', keyBytes),
    signing: deriveKey(text, 'latchkey/backup', keyBytes),
  }))
  const [first] = keys
  if (!first) throw new TypeError('Master keys need at least one key.')

  return {
    ids: Object.freeze(keys.map(({ id }) => id)),
    sign: (text) => ({ keyId: first.id, mac: macOf(first.signing, text).toString('base64url') }),
    verify(text, { keyId, mac }) {
      const found = keys.find(({ id }) => id === keyId)
      if (!found) return 'foreign'
      const [expected, given] = [macOf(found.signing, text), Buffer.from(mac, 'base64url')]
      return given.length === expected.length && timingSafeEqual(given, expected) ? 'valid' : 'wrong'
    },
    wrap: (space, dataKey) => `${first.id}.${sealBytes(first.key, [purpose, space], dataKey)}`,
    unwrap(space, wrapped) {
      const id = wrappingKeyOf(wrapped)
      const found = keys.find((key) => key.id === id)
      if (!found) {
        const cure = 'Add its line below the first one of the master key, and restart.'
        throw new SealingError('master_key_missing', id, `The master key ${id} is missing. ${cure}`)
      }
      const dataKey = openBytes(found.key, [purpose, space], sealedPartOf(wrapped))
      if (dataKey?.length === keyBytes) return dataKey
      const cause = 'its row was changed, or belongs to another space'
      throw new SealingError(
        'row_changed',
        null,
        `A data key does not open: ${cause}. Restore host.db from its backup.`,
      )
    },
  }
}

function macOf(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Only the one spelling that encoders write: Buffer also reads others. */
function isKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === keyBytes && bytes.toString('base64') === text
}

/** Why a sealed row does not open: a key is missing, or the row was changed. */
type SealingFault = 'master_key_missing' | 'data_key_missing' | 'row_changed'

/** A sealed row that does not open. The message names the key's id and the remedy, never a key or a value. */
export class SealingError extends Error {
  readonly fault: SealingFault
  /** Of the missing key; null when the row was changed. */
  readonly keyId: string | null

  constructor(fault: SealingFault, keyId: string | null, message: string) {
    super(message)
    this.name = 'SealingError'
    this.fault = fault
    this.keyId = keyId
  }
}

/** A row names its key as `<key id>.<sealed>`. What has another form is no id, and is not repeated. */
export function keyIdOf(row: string): string {
  const [id = ''] = row.split('.', 1)
  return /^[\w-]{8}$/.test(id) ? id : 'unknown'
}

export function sealedPartOf(row: string): string {
  return row.slice(row.indexOf('.') + 1)
}
