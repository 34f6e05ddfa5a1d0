import { StoreError } from '../../documents/store-error.js'
import type { IndexScan, KeyRange, ScanPage, StoredDocument } from '../../ports.js'
import { misshapen } from '../scan-input.js'
import type { IndexRow } from './index-rows.js'
import { blobAt, numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

const pageBytes = 256 * 1024

/** A choice with more entries counts as one with so many. */
const maxCounted = 10_000

/** The place of an entry. An `_id` of '' stands before all. */
interface Place {
  key: Buffer
  id: string
}

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

/** @throws {StoreError} `plan_outdated` when the index is not what the planner took it for */
export function requirePlanned(index: IndexRow | null, { seen, after }: IndexScan): IndexRow {
  if (index === null || index.builtTo !== null) throw outdated()
  const isSame = seen.isMultikey === index.multikey > 0 && seen.isOrdered === (index.unordered === 0)
  if (after === null && !isSame) throw outdated()
  return index
}

function outdated(): StoreError {
  return new StoreError('plan_outdated', 'The index was removed, or is not what the plan took it for. Plan again.')
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
      count += numberAt(file.row(sql, fromOf(range), bytesOf(range.to), least - count), 'count')
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
    const begin = fromOf(range)
    const isBehind = after !== null && Buffer.compare(after.key, begin) >= 0
    yield* file.iterate(sql, isBehind ? after.key : begin, isBehind ? after.id : '', bytesOf(range.to))
  }
}

/** Key by key, so that equal keys stay in order of `_id`. */
function* descending({ file, n, entries }: Source, ranges: readonly KeyRange[], after: Place | null): Rows {
  const nextKey = `select k from ${entries} where k >= ? and k < ? order by k desc limit 1`
  const equal = `select x.k, x.id, c.ver, c.body from ${entries} x cross join c${n} c on c.id = x.id
    where x.k = ? and x.id > ? order by x.id`
  if (after) yield* file.iterate(equal, after.key, after.id)
  for (const range of ranges.toReversed()) {
    let below = after && Buffer.compare(after.key, bytesOf(range.to)) < 0 ? after.key : bytesOf(range.to)
    for (;;) {
      const row = file.row(nextKey, fromOf(range), below)
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

function formatPlace(choice: number, { key, id }: Place): string {
  return `${choice}.${key.toString('hex')}.${id}`
}

function parsePlace(text: string): Place & { choice: number } {
  const [, choice, key, id] = /^(\d{1,4})\.((?:[0-9a-f]{2})+)\.(.+)$/s.exec(text) ?? []
  if (choice === undefined || key === undefined || id === undefined) throw misshapen()
  return { choice: Number(choice), key: bytesOf(key), id }
}

function fromOf({ from }: KeyRange): Buffer {
  return bytesOf(from)
}

/** A driver binds an empty buffer as null. Every key is greater than this one. */
function bytesOf(hexadecimal: string): Buffer {
  return hexadecimal === '' ? Buffer.of(0) : Buffer.from(hexadecimal, 'hex')
}
