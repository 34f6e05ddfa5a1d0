import type { Command } from 'commander'
import type { LogLine } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { pastTime } from '../times.js'

interface Options {
  follow?: boolean
  since?: string
  level?: string
}

export const example = 'latchkey log --follow --since 10m'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--follow', 'Go on with new lines until Ctrl-C')
    .option('--since <time>', 'From then on, such as 10m (ago) or 2026-11-24')
    .option('--level <level>', 'info or error only')
    .action(async ({ follow = false, since, level }: Options) => {
      const { output, hostHome } = open()
      if (level !== undefined && level !== 'info' && level !== 'error') throw usage('--level takes info or error.')
      const query = {
        follow,
        ...(since !== undefined && { since: pastTime(since, '--since') }),
        ...(level !== undefined && { level }),
      }
      for await (const line of (await hostHome()).readLog(query)) {
        if (output.json) output.record(line)
        else output.line(textOf(line))
      }
    })
}

/** The time of day in UTC: `12:00:01.223 info  started`. */
function textOf({ at, level, text }: LogLine): string {
  const [, time] = /T(\d\d:\d\d:\d\d\.\d{3})/.exec(at) ?? []
  return `${time ?? at} ${level.padEnd(5)} ${text}`
}
