import type { Imported } from '../../collection-calls.js'
import type { ImportBody } from '../../rows/import-body.js'
import type { RowSource } from '../../rows/read-rows.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

/** @throws {ToolError} `partly_done`, with a line for each row that failed */
export function showImported(
  { output }: Tool,
  { collection, dryrun, unit }: { collection: string; dryrun: boolean; unit: RowSource['unit'] },
  body: ImportBody,
  { imported, failed }: Imported,
): void {
  const { first, count } = body.faults()
  const faults = [...first, ...failed].sort((one, other) => one.line - other.line)
  const faultCount = count + Math.max(failed.length, body.sent() - imported)
  const listed = faults.slice(0, 1_000).map(({ line, fault }) => ({ [unit]: line, fault }))
  output.result({ collection, dryrun, imported, failed: faultCount, faults: listed }, [
    dryrun ? `Dry run: ${imported} objects can be imported` : `Finished import ${imported} objects`,
  ])
  if (faultCount === 0) return
  const lines = faults.slice(0, 1_000).map(({ line, fault }) => `${unit} ${line}: ${fault}`)
  const isCut = first.some(({ isLast }) => isLast)
  const all = isCut ? [...lines, 'What follows it was not read.'] : lines
  throw new ToolError(6, 'partly_done', `Rows that failed: ${faultCount}`, { lines: all })
}
