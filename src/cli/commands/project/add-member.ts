import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { teamOf } from './find.js'

export const example = 'latchkey teams add-user deployers ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<team>', 'name or id')
    .argument('<address>', 'of the person; one without an account is invited')
    .action(async (nameOrId: string, address: string) => {
      const { output, hostHomeToChange } = open()
      const host = await hostHomeToChange()
      const team = await host.addTeamMember((await teamOf(host, nameOrId)).id, address)
      output.result(team, [`${address} is a member of team ${team.name}.`])
    })
}
