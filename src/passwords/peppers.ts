import { createHmac } from 'node:crypto'
import { deriveKeyId } from '../lib/digest.js'

/** A key under which passwords are pre-hashed. */
export interface Pepper {
  id: string
  /**
   * The 64 characters that bcrypt gets in the password's place, so that its 72 bytes never cut anything and no byte is
   * a NUL.
   */
  preHash(password: string): string
}

export interface Peppers {
  /** The one of new hashes. Without a pepper its id is `-`. */
  newest: Pepper
  /** Also the one of hashes from before there was a pepper; null when it is gone. */
  find(id: string): Pepper | null
}

export function createPeppers(secrets: readonly string[]): Peppers {
  // A fixed text keys the hashes that have no pepper: they differ from every other use of HMAC-SHA-384.
  const none = createPepper('-', 'latchkey/password/v1')
  const peppers = secrets.map((secret) => createPepper(deriveKeyId(secret, 'latchkey/pepper-id'), secret))
  return {
    newest: peppers[0] ?? none,
    find: (id) => [...peppers, none].find((pepper) => pepper.id === id) ?? null,
  }
}

function createPepper(id: string, key: string): Pepper {
  return { id, preHash: (password) => createHmac('sha384', key).update(password, 'utf8').digest('base64') }
}
