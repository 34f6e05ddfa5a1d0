import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { requireRight, rightOption } from './right.js'

interface Options {
  right: string
}

export const example = 'latchkey teams create deployers --right ADMIN'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<name>', 'of the team')
    .option(rightOption, 'ADMIN or MEMBER, which its members inherit', 'MEMBER')
    .action(async (name: string, { right }: Options) => {
      const { output, hostHomeToChange } = open()
      const wanted = requireRight(right)
      const team = await (await hostHomeToChange()).createTeam({ name, right: wanted })
      output.result(team, [`Created team ${team.name} with the right ${team.right}.`])
    })
}
