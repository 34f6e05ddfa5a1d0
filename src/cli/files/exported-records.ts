import { startProgress } from '../progress.js'
import type { Tool } from '../tool.js'
import { writeExport } from './export-file.js'

/** The options of a command that writes many records to a file. */
export const exportOptions = [
  ['-f, --file <file>', 'The file to write, as JSONL; - for stdout', { required: true }],
  ['--force', 'Replace the file if there is one'],
] as const

/** Writes records to a file with their progress on stderr, or to stdout. @throws {ToolError} usage, for a file that exists */
export async function exportRecords(
  { environment, output }: Tool,
  { file, force = false }: { file: string; force?: boolean | undefined },
  { records, title, note = '' }: { records: AsyncIterable<object>; title: string; note?: string },
): Promise<void> {
  if (file === '-') {
    for await (const record of records) output.record(record)
    return
  }
  const progress = await startProgress(environment, 'Exporting', output.json)
  const target = { path: file, folder: environment.folder, force }
  const count = await writeExport(target, records, (done) => progress.step(`Exported ${done} ${title}`)).finally(
    progress.stop,
  )
  output.result({ file, count }, [`Exported ${count} ${title} to ${file}${note === '' ? '' : `.${note}`}`])
}
