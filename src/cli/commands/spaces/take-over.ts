import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey take-over --space dev'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, prompts, hostHomeToChange } = open()
    const host = await hostHomeToChange()
    const space = host.space()
    await prompts.agree(`This ends the change of ${space} that is under way. It writes nothing any more.`)
    const { kind, by, since } = await host.takeOver()
    const who = by === null ? '' : ` by ${by}`
    output.result({ space, ended: { kind, by, since } }, [
      `Ended: ${kind}${who}, since ${since}.`,
      `${space} is kept for your next change, for a minute.`,
    ])
  })
}
