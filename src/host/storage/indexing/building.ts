import { queryInvalid, type StoreError } from '../../documents/store-error.js'
import type { IndexProgress, StoredDocument } from '../../ports.js'
import type { Entry } from './entry-changes.js'
import type { IndexRow } from './index-row.js'
import { type IndexKeys, keysIn, nameOf } from './index-row.js'

/** What one page reads and writes at most, so that other work goes on. */
export const buildBounds = { rows: 1_000, bytes: 2 * 1024 * 1024, entries: 10_000 }

const namedClashes = 10

/** A document whose entries are added. */
export interface BuiltRow {
  id: string
  keys: IndexKeys
}

/** The keys of as many documents as fit into a page. `isLast` when there were no more. */
export function takeRows(
  index: IndexRow,
  documents: Iterable<Pick<StoredDocument, 'id' | 'body'>>,
): { rows: BuiltRow[]; isLast: boolean } {
  const rows: BuiltRow[] = []
  let [bytes, entries] = [0, 0]
  for (const { id, body } of documents) {
    const isFull = rows.length >= buildBounds.rows || bytes > buildBounds.bytes || entries > buildBounds.entries
    if (isFull) return { rows, isLast: false }
    for (const keys of keysIn([index], id, body)) {
      rows.push({ id, keys })
      entries += keys.entries.length
    }
    bytes += body.length
  }
  return { rows, isLast: true }
}

/** What a page adds to the index. */
export interface Additions {
  entries: readonly Entry[]
  uniqueKeys: readonly Entry[]
  /** What the counts of the index grow by. */
  processed: number
  multikey: number
  unordered: number
}

export function additionsOf(rows: readonly BuiltRow[]): Additions {
  return {
    entries: rows.flatMap(({ id, keys }): Entry[] => keys.entries.map((key) => ({ key, id }))),
    uniqueKeys: rows.flatMap(({ id, keys }): Entry[] =>
      Buffer.isBuffer(keys.unique) ? [{ key: keys.unique, id }] : [],
    ),
    processed: rows.length,
    multikey: rows.filter(({ keys }) => keys.isMultikey).length,
    unordered: rows.filter(({ keys }) => !keys.isOrdered).length,
  }
}

/** `_id`s of documents that have a value twice, or one that a unique index does not take. */
export function clashesIn(rows: readonly BuiltRow[], holderOf: (key: Buffer) => string | null): string[] {
  const holders = new Map<string, string>()
  const clashing = new Set<string>()
  for (const { id, keys } of rows) {
    if (keys.unique === 'not_scalar') clashing.add(id)
    if (!Buffer.isBuffer(keys.unique)) continue
    const name = nameOf(keys.unique)
    const holder = holders.get(name) ?? holderOf(keys.unique) ?? id
    holders.set(name, holder)
    if (holder !== id) clashing.add(holder).add(id)
    if (clashing.size >= namedClashes) break
  }
  return [...clashing].slice(0, namedClashes)
}

/** After a page. `of` is how many documents the collection has. */
export function progressOf(index: IndexRow, built: number, of: number, isLast: boolean): IndexProgress {
  return { processed: isLast ? of : Math.min(index.processed + built, of), of, isReady: isLast }
}

export function notUnique(field: string, ids: readonly string[]): StoreError {
  const names = ids.map((id) => JSON.stringify(id)).join(', ')
  return queryInvalid(
    `No unique index on ${field}: these documents share a value, or hold an array or object there: ${names}. Change them first.`,
  )
}
