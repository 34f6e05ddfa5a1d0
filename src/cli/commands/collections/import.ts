import type { Command } from 'commander'
import { startProgress } from '../../progress.js'
import { importBody } from '../../rows/import-body.js'
import { openRows } from '../../rows/read-rows.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { requireCollection } from './collection.js'
import { showImported } from './import-outcome.js'
import { begun, progressOf, rowCount } from './import-source.js'

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
      showImported(tool, { collection, dryrun, unit: source.unit }, body, imported)
    })
}
