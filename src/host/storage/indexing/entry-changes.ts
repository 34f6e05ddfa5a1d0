import { queryInvalid, StoreError } from '../../documents/store-error.js'
import type { IndexRow } from './index-row.js'
import { type IndexKeys, nameOf } from './index-row.js'

/** A row of a table of entries, or of unique keys. */
export interface Entry {
  key: Buffer
  id: string
}

/** A document that is written. Both lists have an element for each index. */
export interface DocumentChange {
  id: string
  /** null when the document is new. */
  before: readonly IndexKeys[] | null
  /** null when the document is removed. */
  after: readonly IndexKeys[] | null
}

/**
 * What the documents of a call change in one index. All that goes is removed before all that comes is added, so that they may
 * exchange a unique value.
 */
export interface IndexChange {
  index: IndexRow
  removed: readonly Entry[]
  added: readonly Entry[]
  removedUnique: readonly Entry[]
  addedUnique: readonly Entry[]
  /** What the counts of the index change by. */
  multikey: number
  unordered: number
}

/** An entry takes about 5 µs to write. */
const maxEntries = 100_000

/**
 * The changes in each index.
 *
 * @throws {StoreError} `query_invalid` for what a unique index does not take, and for too many entries
 */
export function changesIn(indexes: readonly IndexRow[], changes: readonly DocumentChange[]): IndexChange[] {
  const count = changes.reduce((sum, { before, after }) => sum + entriesOf(before) + entriesOf(after), 0)
  if (count > maxEntries) {
    const message = `One call may change ${maxEntries} entries of indexes. Write fewer documents at once.`
    throw new StoreError('query_invalid', message)
  }
  return indexes.map((index, at) =>
    changeIn(
      index,
      changes.map(({ id, before, after }) => ({ id, before: before?.[at] ?? null, after: after?.[at] ?? null })),
    ),
  )
}

/**
 * The unique keys that have no holder yet.
 *
 * @throws {StoreError} `already_exists` when another document holds one
 */
export function freeKeys(
  { field }: Pick<IndexRow, 'field'>,
  wanted: readonly Entry[],
  holderOf: (key: Buffer) => string | null,
): Entry[] {
  const holders = new Map<string, string>()
  return wanted.filter(({ key, id }) => {
    const holder = holders.get(nameOf(key)) ?? holderOf(key)
    if (holder !== null && holder !== id) {
      throw valueTaken({ field })
    }
    holders.set(nameOf(key), id)
    return holder === null
  })
}

export function valueTaken({ field }: Pick<IndexRow, 'field'>): StoreError {
  return new StoreError('already_exists', `Another document has this value in the unique field ${field}.`)
}

interface OwnChange {
  id: string
  before: IndexKeys | null
  after: IndexKeys | null
}

function changeIn(index: IndexRow, changes: readonly OwnChange[]): IndexChange {
  for (const { after } of changes) if (after?.unique === 'not_scalar') throw notScalar(index)
  return {
    index,
    removed: changes.flatMap(({ id, before, after }) => without(before, after).map((key) => ({ key, id }))),
    added: changes.flatMap(({ id, before, after }) => without(after, before).map((key) => ({ key, id }))),
    removedUnique: changes.flatMap(({ id, before, after }) => uniqueWithout(id, before, after)),
    addedUnique: changes.flatMap(({ id, before, after }) => uniqueWithout(id, after, before)),
    ...countKinds(index, changes),
  }
}

function notScalar({ field }: IndexRow): StoreError {
  return queryInvalid(`The field ${field} has a unique index, so it takes no array and no object.`)
}

/** Documents that the builder has yet to read are counted by it. */
function countKinds({ builtTo }: IndexRow, changes: readonly OwnChange[]) {
  let [multikey, unordered] = [0, 0]
  for (const { id, before, after } of changes) {
    if (builtTo !== null && Buffer.compare(Buffer.from(id), Buffer.from(builtTo)) > 0) continue
    multikey += Number(after?.isMultikey ?? false) - Number(before?.isMultikey ?? false)
    unordered += Number(after?.isOrdered === false) - Number(before?.isOrdered === false)
  }
  return { multikey, unordered }
}

function without(keys: IndexKeys | null, others: IndexKeys | null): Buffer[] {
  const known = new Set(others?.entries.map(nameOf))
  return (keys?.entries ?? []).filter((key) => !known.has(nameOf(key)))
}

function uniqueWithout(id: string, keys: IndexKeys | null, others: IndexKeys | null): Entry[] {
  const key = keys?.unique
  if (!Buffer.isBuffer(key)) return []
  return Buffer.isBuffer(others?.unique) && others.unique.equals(key) ? [] : [{ key, id }]
}

function entriesOf(keys: readonly IndexKeys[] | null): number {
  return (keys ?? []).reduce((sum, { entries }) => sum + entries.length, 0)
}
