import type { Indexes } from '../../ports.js'
import { noIndex, requireFewIndexes, requirePlanned, stateOf } from '../indexing/index-row.js'
import { createCollection, numberOf } from './collection-tables.js'
import { buildPage } from './index-build.js'
import { dropIndex, findIndex, indexesOf } from './index-rows.js'
import { scanIndex } from './index-scan.js'
import { numberAt } from './rows.js'
import { entryTable, uniqueTable } from './schema.js'
import type { SpaceFile } from './space-file.js'

/** Two tables and their first pages. */
const newBytes = 16 * 1024

/**
 * The indexes in a space's file. Its callers have checked names, fields and scans.
 *
 * @param most indexes of a collection
 */
export function createIndexes(file: SpaceFile, most = 64): Indexes {
  return {
    list: async (collection) => indexesOf(file, numberOf(file, collection)).map(stateOf),
    async create(collection, field, isUnique) {
      file.requireRoom(newBytes)
      return file.transaction(() => {
        const n = numberOf(file, collection) ?? createCollection(file, collection)
        if (findIndex(file, n, field)) return false
        requireNumber(file, n, most)
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
      throw noIndex(collection, field)
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

function requireNumber(file: SpaceFile, n: number, most: number): void {
  const sums = file.row(
    'select (select count(*) + total(is_unique) from indexes) as living, (select count(*) from dropped_entries) as dropped',
  )
  requireFewIndexes(indexesOf(file, n).length, most, numberAt(sums, 'living') + numberAt(sums, 'dropped'))
}
