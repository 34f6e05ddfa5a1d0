import { parseJsonObject } from '../../../lib/json-object.js'
import type { Rows } from '../../collection-calls.js'
import type { Output } from '../../output.js'
import { usage } from '../../tool-error.js'

/** A table knows its widths only when all rows are there. */
const mostRows = 10_000

/** Prints rows below the names of all their fields. @throws {ToolError} usage, for more than 10,000 rows */
export async function showTable(output: Output, rows: Rows): Promise<void> {
  const objects: Readonly<Record<string, unknown>>[] = []
  for await (const row of rows) {
    if (objects.length === mostRows) throw usage(`A table has at most ${mostRows} rows. Add --limit, or use --csv.`)
    objects.push(parseJsonObject(row) ?? {})
  }
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const cells = objects.map((object) => names.map((name) => cellOf(object[name])))
  if (names.length > 0) output.table(objects, names, cells)
}

function cellOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
