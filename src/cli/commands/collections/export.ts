import type { Command } from 'commander'
import type { Rows } from '../../collection-calls.js'
import { isInteractive } from '../../environment.js'
import { requireTarget, writePartFile } from '../../files/part-file.js'
import type { HostHome } from '../../host-home.js'
import { startProgress } from '../../progress.js'
import { toCsv } from '../../rows/csv-text.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'
import { requireCollection } from './collection.js'
import { requireOneForm } from './one-form.js'
import { counted, jsonLines } from './streamed.js'

interface Options {
  file?: string
  jsonl?: boolean
  csv?: boolean
  safeCsv?: boolean
  force?: boolean
}

export const example = 'latchkey export users -f users.jsonl'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<collection>', 'the collection')
    .option('-f, --file <file>', 'The file to write (default: stdout)')
    .option('--jsonl', 'One JSON object a line (the default)')
    .option('--csv', 'CSV, with a column for each field of any object')
    .option('--safe-csv', "Write ' before cells that a spreadsheet would run (default at a terminal)")
    .option('--no-safe-csv', 'Leave such cells as they are')
    .option('--force', 'Replace the file if there is one')
    .action(async (given: string, options: Options) => {
      const { file, csv = false, safeCsv, force = false } = options
      requireOneForm(options)
      const { environment, output, hostHome } = open()
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
    })
}

async function exported(host: HostHome, collection: string): Promise<Rows> {
  try {
    return await host.exportRows(collection)
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'not_found') throw error
    const { exitCode, code, details } = error
    throw new ToolError(exitCode, code, `There is no collection ${collection} in ${host.space()}.`, details)
  }
}
