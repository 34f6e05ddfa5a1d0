import type { Command } from 'commander'
import { aligned } from '../../output.js'
import type { Tool } from '../../tool.js'
import { actorNames } from '../actors.js'
import { ago } from '../times.js'

export const example = 'latchkey env'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, hostHome } = open()
    const host = await hostHome()
    const variables = await host.listVariables()
    const nameOf = await actorNames(host)
    const rows = variables.map(({ name, encrypted, value, version, setBy, setAt }) => [
      name,
      encrypted ? '(encrypted)' : (value ?? ''),
      `v${version}`,
      [nameOf(setBy), ago(setAt)].filter((part) => part !== '').join(', '),
    ])
    output.result(variables, aligned(rows))
    if (rows.length === 0) output.note(`The environment of ${host.space()} is empty.`)
  })
}
