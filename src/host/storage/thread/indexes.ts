import { queryInvalid, StoreError } from '../../documents/store-error.js'
import type { Indexes, IndexState } from '../../ports.js'
import { createCollection, numberOf } from './collection-tables.js'
import { buildPage } from './index-build.js'
import { dropIndex, findIndex, type IndexRow, indexesOf } from './index-rows.js'
import { requirePlanned, scanIndex } from './index-scan.js'
import { numberAt } from './rows.js'
import { entryTable, uniqueTable } from './schema.js'
import type { SpaceFile } from './space-file.js'

/** Each makes every write of its collection slower. */
const maxIndexes = 64
/** Opening a file reads the definition of each table. Removed ones count until their entries are gone. */
const maxTables = 2_000
/** Two tables and their first pages. */
const newBytes = 16 * 1024

/** The indexes in a space's file. Its callers have checked names, fields and scans. */
export function createIndexes(file: SpaceFile): Indexes {
  return {
    list: async (collection) => indexesOf(file, numberOf(file, collection)).map(stateOf),
    async create(collection, field, isUnique) {
      file.requireRoom(newBytes)
      return file.transaction(() => {
        const n = numberOf(file, collection) ?? createCollection(file, collection)
        if (findIndex(file, n, field)) return false
        requireNumber(file, n)
        file.run('insert into indexes (n, field, is_unique) values (?, ?, ?)', n, field, Number(isUnique))
        const made = findIndex(file, n, field)
        if (made) file.run(entryTable(made.entries))
        if (made?.isUnique) file.run(uniqueTable(made.uniqueKeys))
        return true
      })
    },
    async build(collection, field) {
      const n = numberOf(file, collection)
      const index = findIndex(file, n, field)
      if (n !== null && index !== null) return buildPage(file, n, index)
      throw queryInvalid(`The collection ${collection} has no index on ${field}.`)
    },
    async scan(collection, scan) {
      const n = numberOf(file, collection)
      const index = requirePlanned(findIndex(file, n, scan.field), scan)
      return n === null ? { documents: [], next: null } : scanIndex(file, n, index, scan)
    },
    remove: async (collection, field) =>
      file.transaction(() => {
        const index = findIndex(file, numberOf(file, collection), field)
        if (index) dropIndex(file, index)
        return index !== null
      }),
  }
}

function requireNumber(file: SpaceFile, n: number): void {
  if (indexesOf(file, n).length >= maxIndexes) {
    throw new StoreError('quota_exceeded', `A collection has at most ${maxIndexes} indexes.`)
  }
  const sums = file.row(
    'select (select count(*) + total(is_unique) from indexes) as living, (select count(*) from dropped_entries) as dropped',
  )
  if (numberAt(sums, 'living') + numberAt(sums, 'dropped') < maxTables) return
  throw new StoreError(
    'quota_exceeded',
    `The indexes of a space have at most ${maxTables} tables, of unique ones two each.`,
  )
}

function stateOf({ field, isUnique, builtTo, multikey, unordered }: IndexRow): IndexState {
  return {
    field,
    isUnique,
    state: builtTo === null ? 'ready' : 'building',
    isMultikey: multikey > 0,
    isOrdered: unordered === 0,
  }
}
