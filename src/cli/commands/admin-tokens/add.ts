import type { Command } from 'commander'
import type { AdminCommand } from '../../../model/admin-command.js'
import { adminCommands } from '../../../model/admin-command.js'
import { isAdminCommand } from '../../admin-token.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { repeated, separated } from '../repeated.js'
import { futureTime } from '../times.js'
import { chooseOwner } from './owner.js'

interface Options {
  owner?: string
  name?: string
  /** False: `--no-expiry`. */
  expiry: boolean
  expires?: string
  spaces?: string[]
  commands?: string[]
  cidr?: string[]
}

export const example = 'latchkey add-admintoken --owner personal --spaces dev --commands deploy --expires 90d'

export function define(command: Command, open: () => Tool): void {
  command
    .option('--owner <owner>', 'personal, or a team that you are a member of, instead of choosing')
    .option('--name <name>', 'By which you recognise the token')
    .option('--expires <time>', 'When it ends, such as 90d or 2030-01-31 (default: 365d)')
    .option('--no-expiry', 'It never ends')
    .option('--spaces <spaces>', 'For these spaces only, with commas between (default: all)', separated)
    .option('--commands <commands>', `For these only, of: ${adminCommands.join(', ')}`, separated)
    .option('--cidr <network>', 'Accept it from this network only; may be repeated', repeated)
    .action(async (options: Options) => {
      const { output, prompts, hostHomeToChange } = open()
      const limits = limitsOf(options)
      const host = await hostHomeToChange()
      const owner = await chooseOwner(host, prompts, options.owner)
      const created = await host.createAdminToken({ owner, ...limits })
      output.result(created, [`New admin token added:  ${created.token}`])
      output.note('It will never be shown in full again. Use it with --admintoken or LATCHKEY_ADMIN_TOKEN.')
    })
}

function limitsOf({ name, expiry, expires, spaces, commands, cidr }: Options) {
  if (!expiry && expires !== undefined) throw usage('Give either --expires or --no-expiry, not both.')
  return {
    ...(name !== undefined && { name }),
    ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
    ...(!expiry && { expiresAt: null }),
    ...(spaces !== undefined && { spaces }),
    ...(commands !== undefined && { commands: commands.map(requireCommand) }),
    ...(cidr !== undefined && { cidrs: cidr }),
  }
}

function requireCommand(name: string): AdminCommand {
  if (isAdminCommand(name)) return name
  throw usage(`--commands takes some of ${adminCommands.join(', ')}, not "${name}".`)
}
