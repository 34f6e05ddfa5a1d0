import type { Command } from 'commander'
import type { ApiTokenEntry } from '../../../model/api-token.js'
import type { AccessReport, HomeDescription } from '../../home.js'
import type { Tool } from '../../tool.js'
import { exampleLines } from './examples.js'
import { networkLines } from './networks.js'
import { spaceLines } from './space-lines.js'

interface Options {
  examples?: boolean
}

export const example = 'latchkey info --examples'

export function define(command: Command, open: () => Tool): void {
  command.option('--examples', 'Print curl lines, too').action(async ({ examples = false }: Options) => {
    const { output, home } = open()
    const opened = await home()
    const [description, space, access, tokens] = await Promise.all([
      opened.describe(),
      opened.readSpace(),
      opened.readAccess(),
      opened.listApiTokens({ limit: 200 }),
    ])
    const shown = examples ? exampleLines(space?.url ?? description.url) : []
    const value = {
      ...description,
      ...(space && { space }),
      tokens: tokens.items,
      access,
      ...(examples && { examples: shown }),
    }
    output.result(value, [...lines(description, access, tokens.items), ...spaceLines(space), ...shown])
  })
}

function lines(
  { home, url, version }: HomeDescription,
  access: AccessReport,
  tokens: readonly ApiTokenEntry[],
): string[] {
  const keySet = access.keySet
  const keys =
    keySet === null ? '' : `  (${keySet.ok ? `${keySet.keys.length} keys` : `fault: ${keySet.fault ?? 'unknown'}`})`
  return [
    `Home       ${home}, latchkey ${version}`,
    `URL        ${url}`,
    ...(tokens.length === 0
      ? ['Tokens     none']
      : tokens.map((token, at) => `${at === 0 ? 'Tokens   ' : '         '}  ${masked(token)}`)),
    ...networkLines(access).map((line, at) => `${at === 0 ? 'Whitelist' : '         '}  ${line}`),
    `JWKS       ${access.jwksUrl ?? 'none'}${access.jwksUrl === null ? '' : keys}`,
  ]
}

/** The store keeps a digest, so no part of the token itself can be shown. */
function masked({ id, name, access }: ApiTokenEntry): string {
  return `********  ${access}  ${name}  (${id})`
}
