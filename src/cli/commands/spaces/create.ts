import type { Command } from 'commander'
import { requireSpaceName } from '../../space-name.js'
import type { Tool } from '../../tool.js'

export const example = 'latchkey create dev'

export function define(command: Command, open: () => Tool): void {
  command.argument('<space>', 'up to 31 of a to z, 0 to 9 and -').action(async (name: string) => {
    const { output, hostHomeToChange } = open()
    requireSpaceName(name, 'The argument')
    const space = await (await hostHomeToChange()).createSpace(name)
    output.result(space, [`Created space ${space.name}: ${space.url}`])
  })
}
