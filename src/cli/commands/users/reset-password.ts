import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'

export const example = 'latchkey users reset-password ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('<user>', 'address or id').action(async (user: string) => {
    const tool = open()
    const home = await tool.homeToChange()
    const { id, email } = await accountOf(home, user)
    await tool.prompts.agree(`Every session of ${email} ends, and its password no longer works until it is reset.`)
    await home.resetPassword(id)
    tool.output.result({ id, email, done: true }, [`A link to set a new password goes to ${email}.`])
  })
}
