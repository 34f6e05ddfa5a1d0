import type { Command } from 'commander'
import { writeExport } from '../../files/export-file.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'

interface Options {
  file: string
  force?: boolean
}

export const example = 'latchkey users export -f accounts.jsonl'

export function define(command: Command, open: () => Tool): void {
  command
    .requiredOption('-f, --file <file>', 'The file to write, as JSONL; - for stdout')
    .option('--force', 'Replace the file if there is one')
    .action(async ({ file, force = false }: Options) => {
      const { environment, output, localHomeToChange } = open()
      const records = (await localHomeToChange()).exportUsers()
      if (file === '-') {
        for await (const record of records) output.record(record)
        return
      }
      const progress = await startProgress(environment, 'Exporting', output.json)
      try {
        const target = { path: file, folder: environment.folder, force }
        const count = await writeExport(target, records, (done) => progress.step(`Exported ${done} accounts`))
        progress.stop()
        output.result({ file, count }, [
          `Exported ${count} accounts to ${file}. It holds password hashes: keep it safe.`,
        ])
      } finally {
        progress.stop()
      }
    })
}
