import type { Tool } from '../../tool.js'

export async function undoRestore({ output, hostHomeToChange }: Tool): Promise<void> {
  const host = await hostHomeToChange()
  const space = host.space()
  await host.undoRestore()
  const again = 'Switch forth again within 24 h: latchkey restore --undo'
  output.result({ space, undone: true }, [`${space} has the data of before again. ${again}`])
}
