import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { accountOf, stateOf } from '../account.js'
import { futureTime } from '../times.js'

interface Options {
  reason?: string
  until?: string
}

export const example = "latchkey users disable ann@example.org --reason 'chargeback' --until 7d"

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<user>', 'address or id')
    .option('--reason <text>', 'Why, for the audit log')
    .option('--until <time>', 'When it is enabled again, such as 7d or 2030-01-31 (default: never)')
    .action(async (user: string, options: Options) => {
      const { output, prompts, homeToChange } = open()
      const until = options.until === undefined ? {} : { until: futureTime(options.until, '--until') }
      const home = await homeToChange()
      const { id } = await accountOf(home, user)
      const reason = options.reason ?? (await prompts.text('Why is the account disabled?', '--reason <text>'))
      const account = await home.disableUser(id, { reason, ...until })
      output.result(account, [`Account ${account.email} is ${stateOf(account)}. Its sessions have ended.`])
    })
}
