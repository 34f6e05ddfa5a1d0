import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

const headings = ['NAME', 'RIGHT', 'MEMBERS', 'ID']

export const example = 'latchkey teams'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, hostHome } = open()
    const teams = await (await hostHome()).listTeams()
    const rows = teams.map(({ id, name, right, members }) => {
      return [name, right, members.map(({ email }) => email).join(', ') || 'none', id]
    })
    output.table(teams, headings, rows)
    if (rows.length === 0) output.note('There are no teams. Create one with: latchkey teams create <name>')
  })
}
