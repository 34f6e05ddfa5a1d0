import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { shortTime } from '../times.js'

const headings = ['ID', 'MAIL', 'DOMAIN', 'STATE', 'TRIES', 'NEXT TRY', 'LAST REASON']

interface Options extends ListOptions {
  state?: string
}

export const example = 'latchkey mail'

export function define(command: Command, open: () => Tool): void {
  withListOptions(command)
    .option('--state <state>', 'Only mail in this state, as the table shows it')
    .action(async ({ state, ...options }: Options) => {
      const { output, remoteHome } = open()
      const filter = { ...pageInput(options), ...(state !== undefined && { state }) }
      const page = await (await remoteHome()).listMail(filter)
      const rows = page.items.map(({ id, template, domain, state, attempts, nextAt, lastReason }) => [
        id,
        template,
        domain,
        state,
        String(attempts),
        shortTime(nextAt, ''),
        lastReason ?? '',
      ])
      output.table(page, headings, rows)
      noteMore(output, page.nextCursor)
    })
}
