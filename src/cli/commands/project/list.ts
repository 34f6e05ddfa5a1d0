import type { Command } from 'commander'
import type { ProjectUser } from '../../host-home.js'
import type { Tool } from '../../tool.js'

const headings = ['EMAIL', 'NAME', 'RIGHT', 'TEAMS', 'IN FORCE']

export const example = 'latchkey project'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, hostHome } = open()
    const users = await (await hostHome()).listProjectUsers()
    output.table(users, headings, users.map(rowOf))
  })
}

function rowOf({ email, name, right, teams, inForce }: ProjectUser): string[] {
  const inherited = teams.map((team) => `${team.name} (${team.right})`).join(', ')
  return [email, name ?? '', right ?? 'none', inherited || 'none', inForce ?? 'none, address not verified']
}
