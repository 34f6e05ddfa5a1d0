import type { Indexes, IndexScan, KeyRange, ScanPage, StoredDocument } from '../../ports.js'
import { type IndexRow, noIndex, requireFewIndexes, requirePlanned, stateOf } from '../indexing/index-row.js'
import { beginOf, formatPlace, keyBytes, maxCounted, type Place, parsePlace } from '../indexing/scan-place.js'
import { misshapen } from '../scan-input.js'
import { buildPage, dropIndex, findIndex, indexesOf } from './entries.js'
import type { SpaceFile } from './space-file.js'
import { blobAt, createCollection, entryTable, numberAt, numberOf, textAt, uniqueTable } from './space-file.js'

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

const pageBytes = 256 * 1024

/** A page of the documents that an index leads to. */
function scanIndex(file: SpaceFile, n: number, index: IndexRow, scan: IndexScan): ScanPage {
  const after = scan.after === null ? null : parsePlace(scan.after)
  const choice = after?.choice ?? fewest(file, index, scan.choices)
  const ranges = scan.choices[choice]
  if (!ranges) throw misshapen()
  const source = { file, n, entries: index.entries }
  const rows = scan.order === -1 ? descending(source, ranges, after) : ascending(source, ranges, after)
  return pageOf(rows, scan.limit, (place) => formatPlace(choice, place))
}

/** The number of the choice with the fewest entries. */
function fewest(file: SpaceFile, { entries }: IndexRow, choices: IndexScan['choices']): number {
  if (choices.length === 1) return 0
  const sql = `select count(*) as count from (select 1 from ${entries} where k >= ? and k < ? limit ?)`
  let [best, least] = [0, maxCounted]
  for (const [at, ranges] of choices.entries()) {
    let count = 0
    for (const range of ranges) {
      if (count >= least) break
      count += numberAt(file.row(sql, keyBytes(range.from), keyBytes(range.to), least - count), 'count')
    }
    if (count < least) [best, least] = [at, count]
  }
  return best
}

interface Source {
  file: SpaceFile
  n: number
  entries: string
}

/** Asks for rows in parts, because a driver runs nothing else while one goes through the rows of a statement. */
type Rows = Generator<unknown, void, undefined>

function* ascending({ file, n, entries }: Source, ranges: readonly KeyRange[], after: Place | null): Rows {
  const sql = `select x.k, x.id, c.ver, c.body from ${entries} x cross join c${n} c on c.id = x.id
    where (x.k, x.id) > (?, ?) and x.k < ? order by x.k, x.id`
  for (const range of ranges) {
    const { key, id } = beginOf(range, after)
    yield* file.iterate(sql, key, id, keyBytes(range.to))
  }
}

/** Key by key, so that equal keys stay in order of `_id`. */
function* descending({ file, n, entries }: Source, ranges: readonly KeyRange[], after: Place | null): Rows {
  const nextKey = `select k from ${entries} where k >= ? and k < ? order by k desc limit 1`
  const equal = `select x.k, x.id, c.ver, c.body from ${entries} x cross join c${n} c on c.id = x.id
    where x.k = ? and x.id > ? order by x.id`
  if (after) yield* file.iterate(equal, after.key, after.id)
  for (const range of ranges.toReversed()) {
    let below = after && Buffer.compare(after.key, keyBytes(range.to)) < 0 ? after.key : keyBytes(range.to)
    for (;;) {
      const row = file.row(nextKey, keyBytes(range.from), below)
      if (!row) break
      below = blobAt(row, 'k')
      yield* file.iterate(equal, below, '')
    }
  }
}

function pageOf(rows: Rows, limit: number, nextOf: (place: Place) => string): ScanPage {
  const documents: StoredDocument[] = []
  let bytes = 0
  let last: Place | null = null
  for (const row of rows) {
    const body = textAt(row, 'body')
    bytes += Buffer.byteLength(body)
    if (last && (bytes > pageBytes || documents.length >= limit)) return { documents, next: nextOf(last) }
    last = { key: blobAt(row, 'k'), id: textAt(row, 'id') }
    documents.push({ id: last.id, version: numberAt(row, 'ver'), body })
  }
  return { documents, next: null }
}
