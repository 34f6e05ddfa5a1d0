import { type Keys, keysOf } from '../../documents/keys.js'
import { uniqueKeyOf } from '../../documents/unique-key.js'
import { type Document, decode } from '../../documents/values.js'
import type { IndexRow } from './index-row.js'

/** What a document has in one index. */
export interface IndexKeys extends Keys {
  unique: ReturnType<typeof uniqueKeyOf>
}

/** The keys of a document, one element an index. */
export function keysIn(indexes: readonly IndexRow[], id: string, body: string): IndexKeys[] {
  if (indexes.length === 0) return []
  const document = decodeAny(id, body)
  return indexes.map(({ field, isUnique }) => ({
    ...keysOf(document, field),
    unique: isUnique ? uniqueKeyOf(document, field) : 'none',
  }))
}

/** The store judges whether a body is JSON. One that only the store takes for JSON has no fields. */
function decodeAny(id: string, body: string): Document {
  try {
    return decode(id, body)
  } catch {
    return { _id: id }
  }
}

/** Keys have no text of their own: this names one in a `Map`. */
export function nameOf(key: Buffer): string {
  return key.toString('latin1')
}
