import { createHash } from 'node:crypto'
import { keyOf, maxTextBytes, textKey, valueAt } from './keys.js'
import { isWellFormed } from './names.js'

/**
 * The key of a document in a unique index: equal for equal values alone. `none` where the field is missing or null, which any
 * number of documents may share. `not_scalar` for an array or an object, which a unique index does not take.
 */
export function uniqueKeyOf(
  document: Readonly<Record<string, unknown>>,
  field: string,
): Buffer | 'none' | 'not_scalar' {
  const value = valueAt(document, field)
  if (value === undefined || value === null) return 'none'
  if (typeof value === 'string') return uniqueTextKey(value)
  const isScalar = typeof value !== 'object' || value instanceof Date
  return (isScalar ? keyOf(value) : null) ?? 'not_scalar'
}

/** The SHA-256 stands behind what the cut, or UTF-8, loses of the text. */
function uniqueTextKey(text: string): Buffer {
  if (Buffer.byteLength(text) <= maxTextBytes && isWellFormed(text)) return textKey(text)
  const hash = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest()
  return Buffer.concat([textKey(text), hash])
}
