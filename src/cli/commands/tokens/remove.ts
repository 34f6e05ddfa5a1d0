import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey remove-token 0zRC4w1Yh6eTqv9bX2kLmA'

export function define(command: Command, open: () => Tool): void {
  command.argument('<id>', 'as latchkey tokens prints it').action(async (id: string) => {
    const { output, homeToChange } = open()
    await (await homeToChange()).removeApiToken(id)
    output.result({ id, removed: true }, ["Token removed. Use 'latchkey tokens' to see all tokens."])
  })
}
