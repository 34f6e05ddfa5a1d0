import type { Command } from 'commander'
import type { AdminTokenCalls, AdminTokenEntry } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'

interface Options {
  all?: boolean
}

export const example = 'latchkey remove-admintoken a41f0c9d5e7b2a63'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('[id]', 'as latchkey admintokens prints it; without one, you choose')
    .option('--all', 'Remove every admin token of the project')
    .action(async (id: string | undefined, { all = false }: Options) => {
      const tool = open()
      if (all && id !== undefined) throw usage('Give either an id or --all, not both.')
      const host = await tool.adminTokensToChange()
      const tokens = await host.listAdminTokens()
      if (all) await removeAll(tool, host, tokens)
      else await removeOne(tool, host, await chosen(tool, tokens, id))
    })
}

async function chosen({ prompts }: Tool, tokens: readonly AdminTokenEntry[], id: string | undefined) {
  const choices = tokens.map((token) => ({ value: token.id, label: `${token.start}…  ${token.name}` }))
  if (id === undefined && choices.length === 0) throw new ToolError(1, 'not_found', 'There are no admin tokens.')
  const wanted =
    id ?? (await prompts.select('Select the admin token to remove', choices, 'its id: remove-admintoken <id>'))
  const found = tokens.find((token) => token.id === wanted)
  if (found === undefined) throw new ToolError(1, 'not_found', `There is no admin token ${wanted}.`)
  return found
}

async function removeOne({ output }: Tool, host: AdminTokenCalls, { id, owner }: AdminTokenEntry): Promise<void> {
  await host.removeAdminToken(id)
  const whose = owner.kind === 'team' ? `team ${owner.name}` : 'personal account'
  output.result({ id, removed: true }, [`Admin token removed successfully from ${whose}`])
}

async function removeAll(
  { output, prompts }: Tool,
  host: AdminTokenCalls,
  tokens: readonly AdminTokenEntry[],
): Promise<void> {
  await prompts.agree(
    `This removes all ${tokens.length} admin tokens of the project, those of other people too. Go on?`,
  )
  const removed = await host.removeAllAdminTokens()
  output.result({ removed }, [`Removed ${removed} admin tokens.`])
}
