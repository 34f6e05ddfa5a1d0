import type { Command } from 'commander'
import type { Tool } from '../../tool.js'

export const example = 'latchkey whoami'

export function define(command: Command, open: () => Tool): void {
  command.action(async () => {
    const { output, remoteHome } = open()
    const description = await (await remoteHome()).describe()
    const { user, url } = description
    output.result(description, [`${user?.email ?? ''}, ${user?.right ?? ''} of ${url}`])
  })
}
