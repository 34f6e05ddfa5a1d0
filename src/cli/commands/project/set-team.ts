import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { teamOf } from './find.js'
import { requireRight, rightOption } from './right.js'

interface Options {
  right?: string
  name?: string
}

export const example = 'latchkey teams set deployers --right MEMBER'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<team>', 'name or id')
    .option(rightOption, 'ADMIN or MEMBER, which its members inherit')
    .option('--name <name>', 'A new name')
    .action(async (nameOrId: string, { right, name }: Options) => {
      const { output, hostHomeToChange } = open()
      if (right === undefined && name === undefined) throw usage('Give --right, --name or both.')
      const changes = {
        ...(name !== undefined && { name }),
        ...(right !== undefined && { right: requireRight(right) }),
      }
      const host = await hostHomeToChange()
      const { id } = await teamOf(host, nameOrId)
      const team = await host.changeTeam(id, changes)
      output.result(team, [`Team ${team.name} has the right ${team.right}.`])
    })
}
