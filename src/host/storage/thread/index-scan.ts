import type { IndexScan, KeyRange, ScanPage, StoredDocument } from '../../ports.js'
import type { IndexRow } from '../indexing/index-row.js'
import { beginOf, formatPlace, keyBytes, maxCounted, type Place, parsePlace } from '../indexing/scan-place.js'
import { misshapen } from '../scan-input.js'
import { blobAt, numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

const pageBytes = 256 * 1024

/** A page of the documents that an index leads to. */
export function scanIndex(file: SpaceFile, n: number, index: IndexRow, scan: IndexScan): ScanPage {
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
