import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf } from '../account.js'

export const example = 'latchkey users remove-two-factor ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command.argument('<user>', 'address or id').action(async (user: string) => {
    const tool = open()
    const home = await tool.homeToChange()
    const { id, email } = await accountOf(home, user)
    await tool.prompts.agree(
      `Anyone who knows the password of ${email} can sign in then. Make sure that the owner asks.`,
    )
    await home.removeTwoFactor(id)
    tool.output.result({ id, email, done: true }, [
      `Two-factor authentication of ${email} is off, and its sessions have ended.`,
    ])
  })
}
