import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { requireRight, rightOption } from './right.js'

interface Options {
  right: string
}

export const example = 'latchkey project add ann@example.org --right ADMIN'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<address>', 'of the person; one without an account is invited')
    .option(rightOption, 'ADMIN or MEMBER', 'MEMBER')
    .action(async (address: string, { right }: Options) => {
      const { output, hostHomeToChange } = open()
      const wanted = requireRight(right)
      const user = await (await hostHomeToChange()).grantRight(address, wanted)
      const waits =
        user.inForce === null ? ['It counts once the address is verified: an invitation is in the mail.'] : []
      output.result(user, [`${user.email} has the right ${wanted} on the project.`, ...waits])
    })
}
