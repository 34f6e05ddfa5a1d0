import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

interface Options {
  confirm?: string
}

export const example = 'latchkey undeploy --space dev'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--confirm <space>', 'The name of the space, instead of typing it')
    .action(async ({ confirm }: Options) => {
      const { output, prompts, hostHomeToChange } = open()
      const host = await hostHomeToChange()
      const space = host.space()
      const question = `This takes the code of ${space} away. Data, tokens and settings stay.`
      await host.undeploy(await prompts.name(question, space, confirm))
      output.result({ space, undeployed: true }, [`Undeployed ${space}. Data, tokens and settings stay.`])
    })
}
