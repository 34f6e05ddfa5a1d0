import type { Command } from 'commander'
import { writeSpace } from '../../files/project-file.js'
import { requireSpaceName } from '../../space-name.js'
import type { Tool } from '../../tool.js'
import { usage } from '../../tool-error.js'

export const example = 'latchkey use dev'

export function define(command: Command, open: () => Tool): void {
  command.argument('<space>', 'as latchkey spaces prints it').action(async (name: string) => {
    const { environment, output, place, hostHome } = open()
    requireSpaceName(name, 'The argument')
    const where = place()
    await (await hostHome()).readSpace(name)
    if (where.mode === 'local') throw usage('Give the URL of the host: --url https://api.example.org')
    const path = writeSpace(environment, where.address, name)
    output.result({ space: name, path }, [`Using space ${name} (written to latchkey.json)`])
  })
}
