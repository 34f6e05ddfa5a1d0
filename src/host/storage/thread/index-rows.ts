import { type IndexRow, tablesOf } from '../indexing/index-row.js'
import { nullableTextAt, numberAt, textAt } from './rows.js'
import type { SpaceFile } from './space-file.js'

const columns = 'i, n, field, is_unique, built_to, processed, multikey, unordered'

/** The indexes of a collection, in order of their fields. */
export function indexesOf(file: SpaceFile, n: number | null): IndexRow[] {
  if (n === null) return []
  return file.rows(`select ${columns} from indexes where n = ? order by field`, n).map(readIndex)
}

export function findIndex(file: SpaceFile, n: number | null, field: string): IndexRow | null {
  const row = n === null ? null : file.row(`select ${columns} from indexes where n = ? and field = ?`, n, field)
  return row ? readIndex(row) : null
}

/** Its entries go later, page by page: `tidy.ts`. Call it in a transaction. */
export function dropIndex(file: SpaceFile, { i, isUnique, entries, uniqueKeys }: IndexRow): void {
  file.run('insert into dropped_entries (name) values (?)', entries)
  if (isUnique) file.run('insert into dropped_entries (name) values (?)', uniqueKeys)
  file.run('delete from indexes where i = ?', i)
}

function readIndex(row: unknown): IndexRow {
  const [n, i] = [numberAt(row, 'n'), numberAt(row, 'i')]
  return {
    i,
    field: textAt(row, 'field'),
    isUnique: numberAt(row, 'is_unique') === 1,
    builtTo: nullableTextAt(row, 'built_to'),
    processed: numberAt(row, 'processed'),
    multikey: numberAt(row, 'multikey'),
    unordered: numberAt(row, 'unordered'),
    ...tablesOf(n, i),
  }
}
