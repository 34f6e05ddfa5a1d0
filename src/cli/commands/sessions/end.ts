import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey sessions end 0zRC4w1Yh6eTqv9bX2kLmA'

export function define(command: Command, open: () => Tool): void {
  command.argument('<id>', 'as latchkey sessions prints it').action(async (id: string) => {
    const { output, remoteHomeToChange } = open()
    await (await remoteHomeToChange()).endSession(id)
    output.result({ id, ended: true }, ["Session ended. Use 'latchkey sessions' to see all sessions."])
  })
}
