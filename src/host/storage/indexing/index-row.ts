import { type Keys, keysOf, uniqueKeyOf } from '../../documents/keys.js'
import { queryInvalid, StoreError } from '../../documents/store-error.js'
import { type Document, decode } from '../../documents/values.js'
import type { IndexScan, IndexState } from '../../ports.js'

/** The row of an index. */
export interface IndexRow {
  i: number
  field: string
  isUnique: boolean
  /** The last `_id` whose entries are complete; null when all are. */
  builtTo: string | null
  processed: number
  /** How many documents up to `builtTo` have an array in the field, and how many stand out of order. */
  multikey: number
  unordered: number
  /** The table of its entries. */
  entries: string
  /** The table of its unique keys; only of a unique index. */
  uniqueKeys: string
}

/** Opening the data reads the definition of each table. Removed ones count until their entries are gone. */
const maxTables = 2_000

/** The names of its tables. `n` is the number of the collection. */
export function tablesOf(n: number, i: number): Pick<IndexRow, 'entries' | 'uniqueKeys'> {
  return { entries: `x${n}_${i}`, uniqueKeys: `u${n}_${i}` }
}

export function stateOf({ field, isUnique, builtTo, multikey, unordered }: IndexRow): IndexState {
  return {
    field,
    isUnique,
    state: builtTo === null ? 'ready' : 'building',
    isMultikey: multikey > 0,
    isOrdered: unordered === 0,
  }
}

/** @throws {StoreError} `plan_outdated` when the index is not what the planner took it for */
export function requirePlanned(index: IndexRow | null, { seen, after }: IndexScan): IndexRow {
  if (index === null || index.builtTo !== null) throw outdated()
  const isSame = seen.isMultikey === index.multikey > 0 && seen.isOrdered === (index.unordered === 0)
  if (after === null && !isSame) throw outdated()
  return index
}

/**
 * Before an index is made.
 *
 * @param own how many its collection has, of `most`
 * @param tables those of all indexes of the space, of removed ones too
 * @throws {StoreError} `quota_exceeded`
 */
export function requireFewIndexes(own: number, most: number, tables: number): void {
  if (own >= most) throw new StoreError('quota_exceeded', `A collection has at most ${most} indexes.`)
  if (tables < maxTables) return
  throw new StoreError(
    'quota_exceeded',
    `The indexes of a space have at most ${maxTables} tables, of unique ones two each.`,
  )
}

export function noIndex(collection: string, field: string): StoreError {
  return queryInvalid(`The collection ${collection} has no index on ${field}.`)
}

function outdated(): StoreError {
  return new StoreError('plan_outdated', 'The index was removed, or is not what the plan took it for. Plan again.')
}

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
