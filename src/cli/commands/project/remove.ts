import type { Command } from 'commander'
import type { Tool } from '../../tool.js'
import { projectUserOf } from './find.js'
import { requireTokensChoice, settleLeftTokens, tokensOption } from './left-tokens.js'

interface Options {
  confirm?: string
  tokens?: string
}

export const example = 'latchkey project remove ann@example.org'

export function define(command: Command, open: () => Tool): void {
  command
    .argument('<user>', 'address or id')
    .option('--confirm <address>', 'The address of the account, instead of typing it')
    .option(tokensOption, 'What becomes of the team tokens that they made')
    .action(async (user: string, options: Options) => {
      const tool = open()
      const choice = requireTokensChoice(options.tokens)
      const host = await tool.hostHomeToChange()
      const { id, email } = await projectUserOf(host, user)
      const question = `This takes the right and the teams of ${email} away.`
      const tokens = await host.removeProjectUser(id, await tool.prompts.name(question, email, options.confirm))
      const removedTokens = await settleLeftTokens(tool, host, { tokens, choice, email })
      tool.output.result({ id, email, removed: true, removedTokens }, [`${email} is no user of the project any more.`])
    })
}
