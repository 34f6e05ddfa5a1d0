import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { type ListOptions, noteMore, pageInput, withListOptions } from '../lists.js'
import { megabytes } from '../sizes.js'
import { shortTime } from '../times.js'

const headings = ['NAME', 'STATE', 'RELEASE', 'MEMORY', 'RESTARTS', 'URL', 'CREATED']

export const example = 'latchkey spaces'

export function define(command: Command, open: () => Tool): void {
  withListOptions(command).action(async (options: ListOptions) => {
    const { output, hostHome } = open()
    const page = await (await hostHome()).listSpaces(pageInput(options))
    const rows = page.items.map(({ name, state, release, memoryBytes, restarts, url, createdAt }) => [
      name,
      state,
      release === null ? 'none' : String(release),
      megabytes(memoryBytes),
      String(restarts),
      url,
      shortTime(createdAt, ''),
    ])
    output.table(page, headings, rows)
    if (rows.length === 0) output.note('There are no spaces. Create one with: latchkey create dev')
    noteMore(output, page.nextCursor)
  })
}
