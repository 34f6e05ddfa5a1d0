import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { stateOf } from '../account.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { shortTime } from '../times.js'

const headings = ['ID', 'EMAIL', 'NAME', 'ROLES', 'STATE', 'LAST LOGIN']

interface Options extends ListOptions {
  query?: string
  role?: string
}

export const example = 'latchkey users --query ann'

export function define(command: Command, open: () => Tool): void {
  withListOptions(command)
    .option('--query <text>', 'Part of the address or the name')
    .option('--role <role>', 'Only accounts that have this role')
    .action(async ({ query, role, ...options }: Options) => {
      const { output, home } = open()
      const filter = {
        ...pageInput(options),
        ...(query !== undefined && { query }),
        ...(role !== undefined && { role }),
      }
      const page = await (await home()).listUsers(filter)
      const rows = page.items.map((account) => [
        account.id,
        account.emailVerified ? account.email : `${account.email} (not verified)`,
        account.name ?? '',
        account.roles.join(' '),
        stateOf(account),
        shortTime(account.lastLoginAt, 'never'),
      ])
      output.table(page, headings, rows)
      noteMore(output, page.nextCursor)
    })
}
