import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'

interface Options {
  confirm?: string
}

export const example = 'latchkey users delete ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<user>', 'address or id')
    .option('--confirm <address>', 'The address of the account, instead of typing it')
    .action(async (user: string, { confirm }: Options) => {
      const { output, prompts, homeToChange } = open()
      const home = await homeToChange()
      const { id, email } = await accountOf(home, user)
      const typed = await prompts.name(
        `This deletes the account ${email} with all its data. It cannot be undone.`,
        email,
        confirm,
      )
      await home.deleteUser(id, typed)
      output.result({ id, email, deleted: true }, [`Account ${email} is deleted.`])
    })
}
