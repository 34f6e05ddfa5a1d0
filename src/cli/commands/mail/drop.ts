import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey mail drop 0zRC4w1Yh6eTqv9bX2kLmA'

export function define(command: Command, open: () => Tool): void {
  command.argument('<id>', 'as latchkey mail prints it').action(async (id: string) => {
    const { output, prompts, remoteHomeToChange } = open()
    const home = await remoteHomeToChange()
    await prompts.agree('The mail is never sent then.')
    await home.dropMail(id)
    output.result({ id, dropped: true }, ['The mail is dropped.'])
  })
}
