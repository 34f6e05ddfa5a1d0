import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { shortTime } from '../times.js'

const headings = ['ID', 'NAME', 'ACCESS', 'NETWORKS', 'EXPIRES', 'LAST USE']

export const example = 'latchkey tokens'

export function define(command: Command, open: () => Tool): void {
  withListOptions(command).action(async (options: ListOptions) => {
    const { output, home } = open()
    const page = await (await home()).listApiTokens(pageInput(options))
    const rows = page.items.map(({ id, name, access, cidrs, expiresAt, lastUsedAt }) => [
      id,
      name,
      access,
      cidrs.length === 0 ? 'all' : cidrs.join(' '),
      shortTime(expiresAt, 'never'),
      shortTime(lastUsedAt, 'never'),
    ])
    output.table(page, headings, rows)
    if (rows.length === 0) output.note('There are no tokens. Create one with: latchkey add-token')
    noteMore(output, page.nextCursor)
  })
}
