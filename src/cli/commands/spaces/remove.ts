import type { Command } from 'commander'
import { requireSpaceName } from '../../space-name.js'
import type { Tool } from '../../tool.js'

interface Options {
  confirm?: string
}

export const example = 'latchkey remove-space dev'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<space>', 'as latchkey spaces prints it')
    .option('--confirm <space>', 'The name of the space, instead of typing it')
    .action(async (name: string, { confirm }: Options) => {
      const { output, prompts, hostHomeToChange } = open()
      requireSpaceName(name, 'The argument')
      const host = await hostHomeToChange()
      const { url } = await host.readSpace(name)
      const question = `This removes the space ${name} (${url}) with its code, data, tokens and settings. It cannot be undone.`
      await host.removeSpace(name, await prompts.name(question, name, confirm))
      output.result({ name, removed: true }, [`Removed space ${name} with its code, data, tokens and settings.`])
    })
}
