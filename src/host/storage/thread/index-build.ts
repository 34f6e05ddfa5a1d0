import { queryInvalid } from '../../documents/store-error.js'
import type { IndexProgress } from '../../ports.js'
import { addEntries, bytesOf, holderOf, type IndexKeys, keysIn } from './entries.js'
import { dropIndex, type IndexRow } from './index-rows.js'
import { numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

/** What one page reads and writes at most, so that the thread stays free for other spaces. */
const page = { rows: 1_000, bytes: 2 * 1024 * 1024, entries: 10_000 }

const namedClashes = 10

/** How many rows `analyze` reads of an index. */
const analysisRows = 400

interface Row {
  id: string
  keys: IndexKeys
}

/**
 * Adds the entries of the next documents.
 *
 * @throws {StoreError} `query_invalid` when the values are not unique, after the index was removed; `quota_exceeded`
 */
export function buildPage(file: SpaceFile, n: number, index: IndexRow): IndexProgress {
  const of = numberAt(file.row('select count from collections where n = ?', n), 'count')
  if (index.builtTo === null) return { processed: of, of, isReady: true }
  const { rows, isLast } = readPage(file, n, index, index.builtTo)
  file.requireRoom(rows.reduce((sum, { id, keys }) => sum + bytesOf(id, [keys]), 0))
  const clashing = index.isUnique ? clashesIn(file, index, rows) : []
  if (clashing.length > 0) {
    file.transaction(() => dropIndex(file, index))
    throw notUnique(index.field, clashing)
  }
  file.transaction(() => addPage(file, index, rows, isLast))
  if (isLast) analyze(file, index)
  return { processed: isLast ? of : Math.min(index.processed + rows.length, of), of, isReady: isLast }
}

function readPage(file: SpaceFile, n: number, index: IndexRow, after: string): { rows: Row[]; isLast: boolean } {
  const sql = `select id, body from c${n} where id > ? order by id limit ?`
  const rows: Row[] = []
  let [bytes, entries] = [0, 0]
  for (const row of file.iterate(sql, after, page.rows + 1)) {
    if (rows.length >= page.rows || bytes > page.bytes || entries > page.entries) return { rows, isLast: false }
    const [id, body] = [textAt(row, 'id'), textAt(row, 'body')]
    for (const keys of keysIn([index], id, body)) {
      rows.push({ id, keys })
      entries += keys.entries.length
    }
    bytes += body.length
  }
  return { rows, isLast: true }
}

/** `_id`s of documents that have a value twice, or one that a unique index does not take. */
function clashesIn(file: SpaceFile, index: IndexRow, rows: readonly Row[]): string[] {
  const holders = new Map<string, string>()
  const clashing = new Set<string>()
  for (const { id, keys } of rows) {
    if (keys.unique === 'not_scalar') clashing.add(id)
    if (!Buffer.isBuffer(keys.unique)) continue
    const name = keys.unique.toString('latin1')
    const holder = holders.get(name) ?? holderOf(file, index, keys.unique) ?? id
    holders.set(name, holder)
    if (holder !== id) clashing.add(holder).add(id)
    if (clashing.size >= namedClashes) break
  }
  return [...clashing].slice(0, namedClashes)
}

function addPage(file: SpaceFile, index: IndexRow, rows: readonly Row[], isLast: boolean): void {
  for (const { id, keys } of rows) {
    addEntries(file, index, id, keys.entries)
    if (!Buffer.isBuffer(keys.unique)) continue
    file.run(`insert or ignore into ${index.uniqueKeys} (k, id) values (?, ?)`, keys.unique, id)
  }
  file.run(
    `update indexes set built_to = ?, processed = processed + ?, multikey = multikey + ?, unordered = unordered + ?
     where i = ?`,
    isLast ? null : (rows.at(-1)?.id ?? index.builtTo),
    rows.length,
    rows.filter(({ keys }) => keys.isMultikey).length,
    rows.filter(({ keys }) => !keys.isOrdered).length,
    index.i,
  )
}

/** SQLite learns how the entries are spread. */
function analyze(file: SpaceFile, { entries }: IndexRow): void {
  file.rows(`pragma analysis_limit = ${analysisRows}`)
  file.run(`analyze ${entries}`)
}

function notUnique(field: string, ids: readonly string[]) {
  const names = ids.map((id) => JSON.stringify(id)).join(', ')
  return queryInvalid(
    `No unique index on ${field}: these documents share a value, or hold an array or object there: ${names}. Change them first.`,
  )
}
