import type { Command } from 'commander'
import { writeExport } from '../../files/export-file.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { auditQuery, type FilterOptions, withFilterOptions } from './filter.js'

interface Options extends FilterOptions {
  file: string
  force?: boolean
}

export const example = 'latchkey audit export -f audit.jsonl --since 30d'

export function define(command: Command, open: () => Tool): void {
  withFilterOptions(command)
    .requiredOption('-f, --file <file>', 'The file to write, as JSONL; - for stdout')
    .option('--force', 'Replace the file if there is one')
    .action(async ({ file, force = false, ...filter }: Options) => {
      const { environment, output, home } = open()
      const opened = await home()
      const records = opened.exportAudit(await auditQuery(opened, filter))
      if (file === '-') {
        for await (const record of records) output.record(record)
        return
      }
      const progress = await startProgress(environment, 'Exporting', output.json)
      try {
        const count = await writeExport({ path: file, folder: environment.folder, force }, records, (done) =>
          progress.step(`Exported ${done} events`),
        )
        progress.stop()
        output.result({ file, count }, [`Exported ${count} events to ${file}`])
      } finally {
        progress.stop()
      }
    })
}
