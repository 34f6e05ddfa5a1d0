import { queryInvalid } from './store-error.js'
import { isPlain } from './values.js'

const collectionName = /^[A-Za-z][\w-]*(\.[\w-]+)*$/
const maxCollectionLength = 64
const maxIdBytes = 255
const maxFieldBytes = 255

/**
 * A name of a collection. One that begins with `_` does not exist for applications.
 *
 * @throws {StoreError} `query_invalid`
 */
export function requireCollection(name: unknown): string {
  if (typeof name === 'string' && name.length <= maxCollectionLength && collectionName.test(name)) return name
  throw queryInvalid('A collection is named by a letter and then letters, digits, -, _ and single dots, 64 at most.')
}

/**
 * An `_id`: text of 1 to 255 bytes without control characters, kept as sent. `{ "$oid": text }` is read as its text.
 *
 * @throws {StoreError} `query_invalid`
 */
export function requireId(sent: unknown): string {
  const id = isPlain(sent) && Object.keys(sent).length === 1 ? sent.$oid : sent
  const isText = typeof id === 'string' && id !== '' && isWellFormed(id)
  if (isText && Buffer.byteLength(id) <= maxIdBytes && !hasControl(id)) return id
  throw queryInvalid('_id must be a text of 1 to 255 bytes without control characters.')
}

/**
 * The field of an index, or a path with dots. `_id` needs none.
 *
 * @throws {StoreError} `query_invalid`
 */
export function requireField(field: unknown): string {
  const isText = typeof field === 'string' && field !== '' && field !== '_id' && isWellFormed(field)
  const isShort = isText && Buffer.byteLength(field) <= maxFieldBytes && !hasControl(field)
  const isPath = isShort && field.split('.').every((name) => name !== '__proto__' && !name.startsWith('$'))
  if (isPath) return field
  throw queryInvalid('An index is on a field other than _id, or on a path of fields with dots, of 255 bytes at most.')
}

function hasControl(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f\u007f-\u009f]/.test(text)
}

/** Whether a text has UTF-8 bytes of its own: stores write a lone surrogate as another character. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}

/** Whether a collection is no application's: of a Latchkey inside it, or of the platform. */
export function isHidden(collection: string): boolean {
  return collection.startsWith('_') || collection.startsWith('latchkey_')
}
