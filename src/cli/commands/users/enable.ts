import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'

export const example = 'latchkey users enable ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('<user>', 'address or id').action(async (user: string) => {
    const { output, homeToChange } = open()
    const home = await homeToChange()
    const account = await home.enableUser((await accountOf(home, user)).id)
    output.result(account, [`Account ${account.email} is enabled.`])
  })
}
