import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'
import { teamOf } from './find.js'
import { requireTokensChoice, settleLeftTokens, tokensOption } from './left-tokens.js'

interface Options {
  tokens?: string
}

export const example = 'latchkey teams remove-user deployers ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<team>', 'name or id')
    .argument('<user>', 'address or id')
    .option(tokensOption, 'What becomes of the tokens of the team that they made')
    .action(async (nameOrId: string, user: string, options: Options) => {
      const tool = open()
      const choice = requireTokensChoice(options.tokens)
      const host = await tool.hostHomeToChange()
      const team = await teamOf(host, nameOrId)
      const member = team.members.find(({ id, email }) => id === user || email.toLowerCase() === user.toLowerCase())
      if (member === undefined) throw new ToolError(1, 'not_found', `${user} is no member of team ${team.name}.`)
      const { id, email } = member
      const tokens = await host.removeTeamMember(team.id, id)
      const removedTokens = await settleLeftTokens(tool, host, { tokens, choice, email })
      const value = { team: team.name, id, email, removed: true, removedTokens }
      tool.output.result(value, [`${email} is no member of team ${team.name} any more.`])
    })
}
