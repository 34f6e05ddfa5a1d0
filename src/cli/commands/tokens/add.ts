import { hostname } from 'node:os'
import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { repeated } from '../repeated.js'
import { futureTime } from '../times.js'
import { printCreated } from './created.js'

interface Options {
  readonly?: boolean
  name?: string
  expires?: string
  cidr?: string[]
}

export const example = "latchkey add-token --readonly --name 'nightly report' --expires 90d"

export function define(command: Command, open: () => Tool): void {
  command
    .option('--readonly', 'Allow GET, HEAD and OPTIONS only')
    .option('--name <name>', 'By which you recognise the token')
    .option('--expires <time>', 'When it ends, such as 90d or 2030-01-31 (default: never)')
    .option('--cidr <network>', 'Accept it from this network only; may be repeated', repeated)
    .action(async ({ readonly, name, expires, cidr }: Options) => {
      const { output, homeToChange } = open()
      const token = {
        name: name ?? `Added by latchkey on ${hostname()}`.slice(0, 100),
        access: readonly ? ('READ' as const) : ('READWRITE' as const),
        ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
        ...(cidr !== undefined && { cidrs: cidr }),
      }
      printCreated(output, await (await homeToChange()).createApiToken(token))
    })
}
