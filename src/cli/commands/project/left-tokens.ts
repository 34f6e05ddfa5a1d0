import { isInteractive } from '../../environment.js'
import type { AdminTokenEntry, HostHome } from '../../host-home.js'
import type { Tool } from '../../tool.js'
import { ToolError, usage } from '../../tool-error.js'

export const tokensOption = '--tokens <keep|remove>'

/** @throws {ToolError} usage */
export function requireTokensChoice(text: string | undefined): 'keep' | 'remove' | undefined {
  if (text === undefined || text === 'keep' || text === 'remove') return text
  throw usage('--tokens takes keep or remove.')
}

/**
 * Asks whether the tokens go too that a removed person made for teams, and removes them. The person may still have their text.
 *
 * @returns how many were removed
 * @throws {ToolError} exit code 6 without a terminal and without a choice: the person is removed, the tokens are not
 */
export async function settleLeftTokens(
  { environment, output, prompts, options }: Tool,
  host: HostHome,
  {
    tokens,
    choice,
    email,
  }: { tokens: readonly AdminTokenEntry[]; choice: 'keep' | 'remove' | undefined; email: string },
): Promise<number> {
  if (tokens.length === 0 || choice === 'keep') return 0
  const lines = tokens.map(({ id, start, name, owner }) => `  ${id}  ${start}…  ${name}  (team ${owner.name})`)
  for (const line of [`${email} made these team tokens, which go on working:`, ...lines]) output.note(line)
  if (choice === undefined && !isInteractive(environment) && options.yes !== true) {
    const message = `${email} was removed, and ${tokens.length} team tokens that they made were kept.`
    throw new ToolError(6, 'tokens_kept', message, {
      lines: ['Remove them with latchkey remove-admintoken <id>, or decide with --tokens keep or --tokens remove.'],
    })
  }
  if (choice === undefined && !(await prompts.confirm('Remove them too?'))) return 0
  for (const { id } of tokens) await host.removeAdminToken(id)
  return tokens.length
}
