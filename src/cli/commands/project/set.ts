import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { projectUserOf } from './find.js'
import { requireRight, rightOption } from './right.js'

interface Options {
  right?: string
}

export const example = 'latchkey project set ann@example.org --right MEMBER'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<user>', 'address or id')
    .option(rightOption, 'ADMIN or MEMBER')
    .action(async (user: string, { right }: Options) => {
      const { output, hostHomeToChange } = open()
      const wanted = requireRight(right)
      const host = await hostHomeToChange()
      const { id } = await projectUserOf(host, user)
      const changed = await host.changeRight(id, wanted)
      output.result(changed, [`${changed.email} has the right ${wanted} on the project.`])
    })
}
