import type { Command } from 'commander'
import type { ImportedRecord, ImportReport } from '../../../model/imported-account.js'
import { readRecordLines } from '../../files/record-lines.js'
import { startProgress } from '../../progress.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

/** What became of a record, by its line instead of its index. */
type LineOutcome = Omit<ImportedRecord, 'index'> & { line: number }

export const example = 'latchkey users import accounts.jsonl'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<file>', 'records as auth.users.import takes them, as JSONL or a JSON list; - for stdin')
    .action(async (file: string) => {
      const tool = open()
      const { environment, output } = tool
      const home = await tool.localHomeToChange()
      const progress = await startProgress(environment, 'Importing', output.json)
      const lines: number[] = []
      async function* records() {
        for await (const { line, record } of readRecordLines(environment, file)) {
          lines.push(line)
          yield record
          progress.step(`Read ${lines.length} records`)
        }
      }
      const report = await home.importUsers(records()).finally(progress.stop)
      show(tool, report, lines)
    })
}

/** @throws {ToolError} `partly_done`, with a line for each record that failed */
function show({ output }: Tool, { items, ...counts }: ImportReport, lines: readonly number[]): void {
  const outcomes = items.map(({ index, ...item }) => ({ line: lines[index] ?? index + 1, ...item }))
  const { created, skipped, failed, bcryptHashes = 0 } = counts
  output.result({ ...counts, items: outcomes }, [`Created ${created}, skipped ${skipped}, failed ${failed}.`])
  for (const { line, status } of outcomes) {
    if (status === 'skipped') output.note(`  line ${line}: skipped, its address has an account`)
  }
  if (bcryptHashes > 0) output.note(`${bcryptHashes} bcrypt hashes cover only the first 72 bytes of a password.`)
  const faults = outcomes.filter(({ status }) => status === 'failed').map(faultOf)
  if (faults.length > 0) throw new ToolError(6, 'partly_done', `Records that failed: ${failed}`, { lines: faults })
}

function faultOf({ line, code, path }: LineOutcome): string {
  if (code === 'invalid_request' && path === undefined) return `  line ${line}: no JSON object`
  return `  line ${line}: ${[path, code].filter(Boolean).join(': ')}`
}
