import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { changeNetworks, type LockOutOptions } from './lock-out.js'

const everyone = 'everyone'

export const example = 'latchkey whitelist-remove 203.0.113.7'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<ip>', 'address or CIDR, as latchkey whitelist prints it')
    .option('--force', 'Remove it also if your own address is not on the list then; needs --confirm')
    .option('--confirm <name>', 'Your own address, with --force; or everyone, for the last entry')
    .action(async (network: string, options: LockOutOptions) => {
      const tool = open()
      const home = await tool.homeToChange()
      const { allowList, you } = await home.readAccess()
      const isLast = allowList.fixed.length === 0 && allowList.added.length === 1
      const question = 'This is the last entry. Without it, every address may use the API.'
      const confirmed = isLast ? { confirm: await tool.prompts.name(question, everyone, options.confirm) } : {}
      const input = { change: { network }, options: { ...options, ...confirmed }, ownIp: you?.ip ?? null }
      await changeNetworks(tool, input, (change) => home.disallowNetwork(change))
      const line = `IP ${network} removed from whitelist. Use 'latchkey info' to see all IP addresses.`
      tool.output.result({ network, removed: true }, [line])
    })
}
