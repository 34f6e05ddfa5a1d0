import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

interface Options {
  name?: string
  role?: string[]
  invite: boolean
}

export const example = 'latchkey users create ann@example.org --role EDITOR'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<address>', 'email address of the new account')
    .option('--name <name>', 'The name to show')
    .option('--role <role>', 'A role of the account; may be repeated', repeated)
    .option('--no-invite', 'Mail no invitation to set a password')
    .action(async (email: string, { name, role, invite }: Options) => {
      const { output, homeToChange } = open()
      const user = { email, invite, ...(name !== undefined && { name }), ...(role !== undefined && { roles: role }) }
      const account = await (await homeToChange()).createUser(user)
      const mailed = invite ? ' An invitation goes to that address.' : ''
      output.result(account, [`Created account ${account.email} with id ${account.id}.${mailed}`])
    })
}

function repeated(value: string, former: string[] = []): string[] {
  return [...former, value]
}
