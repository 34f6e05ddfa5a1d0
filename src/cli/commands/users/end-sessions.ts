import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'

export const example = 'latchkey users end-sessions ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('<user>', 'address or id').action(async (user: string) => {
    const tool = open()
    const home = await tool.homeToChange()
    const { id, email } = await accountOf(home, user)

    await home.endUserSessions(id)
    tool.output.result({ id, email, done: true }, [`Every session of ${email} has ended.`])
  })
}
