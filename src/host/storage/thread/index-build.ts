import type { IndexProgress } from '../../ports.js'
import {
  additionsOf,
  type BuiltRow,
  buildBounds,
  clashesIn,
  notUnique,
  progressOf,
  takeRows,
} from '../indexing/building.js'
import type { IndexRow } from '../indexing/index-row.js'
import { addEntries, bytesOf, holderOf } from './entries.js'
import { dropIndex } from './index-rows.js'
import { numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

/** How many rows `analyze` reads of an index. */
const analysisRows = 400

/**
 * Adds the entries of the next documents.
 *
 * @throws {StoreError} `query_invalid` when the values are not unique, after the index was removed; `quota_exceeded`
 */
export function buildPage(file: SpaceFile, n: number, index: IndexRow): IndexProgress {
  const of = numberAt(file.row('select count from collections where n = ?', n), 'count')
  if (index.builtTo === null) return progressOf(index, 0, of, true)
  const { rows, isLast } = takeRows(index, documentsFrom(file, n, index.builtTo))
  file.requireRoom(rows.reduce((sum, { id, keys }) => sum + bytesOf(id, [keys]), 0))
  const clashing = index.isUnique ? clashesIn(rows, (key) => holderOf(file, index, key)) : []
  if (clashing.length > 0) {
    file.transaction(() => dropIndex(file, index))
    throw notUnique(index.field, clashing)
  }
  file.transaction(() => addPage(file, index, rows, isLast))
  if (isLast) analyze(file, index)
  return progressOf(index, rows.length, of, isLast)
}

function* documentsFrom(file: SpaceFile, n: number, after: string) {
  const sql = `select id, body from c${n} where id > ? order by id limit ?`
  for (const row of file.iterate(sql, after, buildBounds.rows + 1)) {
    yield { id: textAt(row, 'id'), body: textAt(row, 'body') }
  }
}

function addPage(file: SpaceFile, index: IndexRow, rows: readonly BuiltRow[], isLast: boolean): void {
  const { entries, uniqueKeys, multikey, unordered } = additionsOf(rows)
  addEntries(file, index.entries, entries)
  addEntries(file, index.uniqueKeys, uniqueKeys)
  file.run(
    `update indexes set built_to = ?, processed = processed + ?, multikey = multikey + ?, unordered = unordered + ?
     where i = ?`,
    isLast ? null : (rows.at(-1)?.id ?? index.builtTo),
    rows.length,
    multikey,
    unordered,
    index.i,
  )
}

/** SQLite learns how the entries are spread. */
function analyze(file: SpaceFile, { entries }: IndexRow): void {
  file.rows(`pragma analysis_limit = ${analysisRows}`)
  file.run(`analyze ${entries}`)
}
