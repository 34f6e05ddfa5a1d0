import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { teamOf } from './find.js'

interface Options {
  confirm?: string
}

export const example = 'latchkey teams remove deployers'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<team>', 'name or id')
    .option('--confirm <name>', 'The name of the team, instead of typing it')
    .action(async (nameOrId: string, { confirm }: Options) => {
      const { output, prompts, hostHomeToChange } = open()
      const host = await hostHomeToChange()
      const { id, name } = await teamOf(host, nameOrId)
      const question = `This removes the team ${name} with its memberships and its admin tokens.`
      await host.removeTeam(id, await prompts.name(question, name, confirm))
      output.result({ id, name, removed: true }, [`Removed team ${name} with its admin tokens.`])
    })
}
