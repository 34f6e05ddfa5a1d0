import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey remove-env MAIL_FROM'

export function define(command: Command, open: () => Tool): void {
  command.argument('<NAME>', 'as latchkey env prints it').action(async (name: string) => {
    const { output, hostHomeToChange } = open()
    const host = await hostHomeToChange()
    const space = host.space()
    await host.removeVariable(name)
    output.result({ space, name, removed: true }, [`Removed environment variable from '${space}'`])
    output.note('The application restarts without it.')
  })
}
