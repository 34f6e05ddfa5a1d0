import type { Command } from 'commander'
import type { Imported } from '../../collection-calls.js'
import { startProgress } from '../../progress.js'
import { openRows, type RowSource } from '../../rows/read-rows.js'
import type { Row } from '../../rows/row.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'
import { size } from '../sizes.js'
import { requireCollection } from './collection.js'
import { type ImportBody, importBody } from './import-upload.js'

interface Options {
  file?: string
  collection?: string
  separator?: string
  encoding: string
  dryrun?: boolean
  rowcount?: string
  upsert?: boolean
}

export const example = 'latchkey import users.csv -c users'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[file]', 'JSONL, a JSON list, or CSV with the names of the fields in its first line; - for stdin')
    .option('-f, --file <file>', 'The file, instead of the argument')
    .requiredOption('-c, --collection <collection>', 'The collection')
    .option('--separator <character>', 'Between the cells of CSV, such as ";" or tab')
    .option('--encoding <encoding>', 'Of the file, such as utf-16le or latin1', 'utf-8')
    .option('--dryrun', 'Check every row and import none')
    .option('--rowcount <number>', 'Import no more than the first rows')
    .option('--upsert', 'Replace objects whose _id exists')
    .action(async (argument: string | undefined, options: Options) => {
      const tool = open()
      const collection = requireCollection(options.collection)
      const file = options.file ?? argument
      if (file === undefined) throw usage('Name the file to import, or - for stdin.')
      const most = rowCount(options.rowcount)
      const { encoding, separator, dryrun = false, upsert = false } = options
      const source = await openRows(tool.environment, file, { encoding, ...(separator !== undefined && { separator }) })
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
      show(tool, { collection, dryrun, unit: source.unit }, body, imported)
    })
}

/** Reads the first row, and gives all of them. */
async function begun(rows: AsyncIterable<Row>): Promise<AsyncGenerator<Row>> {
  const iterator = rows[Symbol.asyncIterator]()
  const first = await iterator.next()
  async function* all() {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value
  }
  return all()
}

function progressOf({ read, size: total }: RowSource, sent: number): [string, number?] {
  const message = `Imported ${sent} objects, ${size(read())}`
  return total === null ? [message] : [`${message} of ${size(total)}`, read() / Math.max(1, total)]
}

/** @throws {ToolError} `partly_done`, with a line for each row that failed */
function show(
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

/** @throws {ToolError} usage */
function rowCount(given: string | undefined): number {
  if (given === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,14}$/.test(given)) throw usage(`--rowcount takes a number from 1 on, not "${given}".`)
  return Number(given)
}
