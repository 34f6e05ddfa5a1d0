import { requireFewCollections } from '../indexing/written-rows.js'
import { numberAt } from './rows.js'
import { collectionTable } from './schema.js'
import type { SpaceFile } from './space-file.js'

/** The number of a collection; null when there is no such collection. */
export function numberOf(file: SpaceFile, collection: string): number | null {
  const row = file.row('select n from collections where name = ?', collection)
  return row ? numberAt(row, 'n') : null
}

/** The name of a collection's table; null when there is no such collection. */
export function tableOf(file: SpaceFile, collection: string): string | null {
  const n = numberOf(file, collection)
  return n === null ? null : `c${n}`
}

/**
 * Makes a collection and returns its number.
 *
 * @throws {StoreError} `quota_exceeded`
 */
export function createCollection(file: SpaceFile, collection: string): number {
  const sums = file.row('select (select count(*) from collections) + (select count(*) from dropped) as tables')
  requireFewCollections(numberAt(sums, 'tables'))
  const n = numberAt(file.row('insert into collections (name) values (?) returning n', collection), 'n')
  file.run(collectionTable(n))
  return n
}
