import type { Command } from 'commander'
import { parseCidr } from '../../../lib/ip-address.js'
import { createIpSet } from '../../../lib/ip-ranges.js'
import type { AccessReport } from '../../home.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'
import { changeNetworks, type LockOutOptions } from './lock-out.js'
import { networkLines } from './networks.js'

export const example = 'latchkey whitelist 203.0.113.7'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[ip]', 'address or CIDR to add; without one, the list is printed')
    .option('--force', 'Add it also if your own address is not on the list then; needs --confirm')
    .option('--confirm <address>', 'Your own address, with --force')
    .action(async (network: string | undefined, options: LockOutOptions) => {
      const tool = open()
      if (network === undefined) {
        const report = await (await tool.home()).readAccess()
        tool.output.result(report, networkLines(report))
        return
      }
      if (parseCidr(network) === null) throw usage(`${network} is neither an IP address nor a CIDR.`)
      const home = await tool.homeToChange()
      const report = await home.readAccess()
      const agreed = await askAboutFirst(tool, report, network, options)
      const input = { change: { network }, options: agreed, ownIp: report.you?.ip ?? null }
      const view = await changeNetworks(tool, input, (change) => home.allowNetwork(change))
      tool.output.result(view, [`IP ${network} added to whitelist. Use 'latchkey info' to see all IP addresses.`])
    })
}

/** The first entry excludes every other address, so the person confirms it: by typing their own address if that is excluded. */
async function askAboutFirst(
  { prompts }: Tool,
  { allowList, you }: AccessReport,
  network: string,
  options: LockOutOptions,
): Promise<LockOutOptions> {
  const isFirst = allowList.fixed.length + allowList.added.length === 0
  if (options.force || !isFirst) return options
  const question = `From now on only ${network} may use the API.`
  if (you !== null && !createIpSet([network])(you.ip)) {
    const excluded = `${question} Your own address ${you.ip} is not on the list.`
    return { force: true, confirm: await prompts.name(excluded, you.ip, options.confirm) }
  }
  await prompts.agree(question)
  return options
}
