import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey mail retry 0zRC4w1Yh6eTqv9bX2kLmA'

export function define(command: Command, open: () => Tool): void {
  command.argument('<id>', 'as latchkey mail prints it').action(async (id: string) => {
    const { output, remoteHomeToChange } = open()
    await (await remoteHomeToChange()).retryMail(id)
    output.result({ id, retried: true }, ['The mail is sent again now.'])
  })
}
