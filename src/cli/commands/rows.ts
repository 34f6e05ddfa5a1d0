import type { Imported, Rows } from '../collection-calls.js'
import { defineCommand } from '../command.js'
import { isInteractive } from '../environment.js'
import { requireTarget, writePartFile } from '../files/part-file.js'
import type { HostHome } from '../host-home.js'
import { startProgress } from '../progress.js'
import { toCsv } from '../rows/csv-text.js'
import { type ImportBody, importBody } from '../rows/import-body.js'
import { begun, openRows, type RowSource } from '../rows/read-rows.js'
import { counted, jsonLines } from '../rows/streamed.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'
import { requireCollection, requireOneForm } from './collections.js'
import { size } from './units.js'

export const importRows = defineCommand({
  example: 'latchkey import users.csv -c users',
  arguments: [['[file]', 'JSONL, a JSON list, or CSV with the names of the fields in its first line; - for stdin']],
  options: [
    ['-f, --file <file>', 'The file, instead of the argument'],
    ['-c, --collection <collection>', 'The collection', { required: true }],
    ['--separator <character>', 'Between the cells of CSV, such as ";" or tab'],
    ['--encoding <encoding>', 'Of the file, such as utf-16le or latin1', { initial: 'utf-8' }],
    ['--dryrun', 'Check every row and import none'],
    ['--rowcount <number>', 'Import no more than the first rows'],
    ['--upsert', 'Replace objects whose _id exists'],
  ],
  async run(tool, argument, options) {
    const collection = requireCollection(options.collection)
    const file = options.file ?? argument
    if (file === undefined) throw usage('Name the file to import, or - for stdin.')
    const most = rowCount(options.rowcount)
    const { encoding, separator, dryrun = false, upsert = false } = options
    const source = await openRows(tool.environment, file, {
      encoding,
      ...(separator !== undefined && { separator }),
    })
    // A file that cannot be read at all fails before anything is sent.
    const rows = await begun(source.rows)
    const host = await tool.hostHomeToChange()
    const progress = await startProgress(tool.environment, `Importing ${file}`, tool.output.json)
    const body = importBody(rows, most, (sent) => progress.step(...progressOf(source, sent)))
    const imported = await host
      .importRows(collection, { open: body.open, dryrun, upsert })
      .catch((error: unknown) => {
        throw body.failure() ?? error
      })
      .finally(progress.stop)
    showImported(tool, { collection, dryrun, unit: source.unit }, body, imported)
  },
})

/** The text of the progress, and its part of 1 where the size is known. */
function progressOf({ read, size: total }: RowSource, sent: number): [string, number?] {
  const message = `Imported ${sent} objects, ${size(read())}`
  return total === null ? [message] : [`${message} of ${size(total)}`, read() / Math.max(1, total)]
}

/** How many rows `--rowcount` lets through. Default: all. @throws {ToolError} usage */
function rowCount(given: string | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,14}$/.test(given)) throw usage(`--rowcount takes a number from 1 on, not "${given}".`)
  return Number(given)
}

/** @throws {ToolError} `partly_done`, with a line for each row that failed */
function showImported(
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

export const exportRows = defineCommand({
  example: 'latchkey export users -f users.jsonl',
  arguments: [['<collection>', 'the collection']],
  options: [
    ['-f, --file <file>', 'The file to write (default: stdout)'],
    ['--jsonl', 'One JSON object a line (the default)'],
    ['--csv', 'CSV, with a column for each field of any object'],
    ['--safe-csv', "Write ' before cells that a spreadsheet would run (default at a terminal)"],
    ['--no-safe-csv', 'Leave such cells as they are'],
    ['--force', 'Replace the file if there is one'],
  ],
  async run({ environment, output, hostHome }, given, options) {
    const { file, csv = false, safeCsv, force = false } = options
    requireOneForm(options)
    const collection = requireCollection(given)
    const { note } = output
    const target = file === undefined || file === '-' ? null : { path: file, folder: environment.folder, force, note }
    if (target !== null) requireTarget(target)
    const host = await hostHome()
    const rows = counted(await exported(host, collection))
    const parts = csv ? toCsv(rows, safeCsv ?? isInteractive(environment)) : jsonLines(rows)
    if (target === null) {
      for await (const part of parts) await output.part(part)
      return
    }
    const progress = await startProgress(environment, `Exporting ${collection}`, output.json)
    rows.onCount((count) => progress.step(`Exported ${count} objects`))
    await writePartFile(target, parts).finally(progress.stop)
    output.result({ collection, file, count: rows.count() }, [`Exported ${rows.count()} objects to ${file}`])
  },
})

async function exported(host: HostHome, collection: string): Promise<Rows> {
  try {
    return await host.exportRows(collection)
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'not_found') throw error
    const { exitCode, code, details } = error
    throw new ToolError(exitCode, code, `There is no collection ${collection} in ${host.space()}.`, details)
  }
}
