import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

interface Options {
  dryRun?: boolean
}

const current = 'The schema is current.'

export const example = 'latchkey migrate --dry-run'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--dry-run', 'Print the statements, and change nothing')
    .action(async ({ dryRun = false }: Options) => {
      const { output, localDatabase } = open()
      const { target, plan, migrate } = await localDatabase()
      if (!dryRun) output.note(target)
      const pending = await plan()
      if (dryRun) {
        const lines = pending.flatMap(({ name, sql }) => [`-- ${name}`, ...sql.map((statement) => `${statement};`)])
        output.result({ pending }, pending.length === 0 ? [current] : lines)
        return
      }
      if (pending.length > 0) await migrate()
      const names = pending.map(({ name }) => name)
      output.result({ applied: names }, [...names, current])
    })
}
