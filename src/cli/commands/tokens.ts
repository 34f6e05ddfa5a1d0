import { hostname } from 'node:os'
import { defineCommand, repeated } from '../command.js'
import type { ApiTokenLine, CreatedApiToken } from '../home.js'
import type { Output } from '../output.js'
import { type Columns, listOptions, pageInput, printPage } from './lists.js'
import { duration, futureTime, shortTime } from './units.js'

/** Prints a new token, this one time. */
function printCreated(output: Output, created: CreatedApiToken): void {
  output.result(created, [`Created new token ${created.token} with access ${created.access}`])
  output.note('Keep it now, it is not shown again. Use it server side only, never in a web page.')
}

export const addToken = defineCommand({
  example: "latchkey add-token --readonly --name 'nightly report' --expires 90d",
  options: [
    ['--readonly', 'Allow GET, HEAD and OPTIONS only'],
    ['--name <name>', 'By which you recognise the token'],
    ['--expires <time>', 'When it ends, such as 90d or 2030-01-31 (default: never)'],
    ['--cidr <network>', 'Accept it from this network only; may be repeated', { parse: repeated }],
  ],
  async run({ output, homeToChange }, { readonly, name, expires, cidr }) {
    const token = {
      name: name ?? `Added by latchkey on ${hostname()}`.slice(0, 100),
      access: readonly ? ('READ' as const) : ('READWRITE' as const),
      ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
      ...(cidr !== undefined && { cidrs: cidr }),
    }
    printCreated(output, await (await homeToChange()).createApiToken(token))
  },
})

const columns: Columns<ApiTokenLine> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  ACCESS: ({ access }) => access,
  NETWORKS: ({ cidrs }) => cidrs.join(' ') || 'all',
  EXPIRES: ({ expiresAt }) => shortTime(expiresAt, 'never'),
  'LAST USE': ({ lastUsedAt }) => shortTime(lastUsedAt, 'never'),
}

export const tokens = defineCommand({
  example: 'latchkey tokens',
  options: listOptions,
  async run({ output, home }, options) {
    const page = await (await home()).listApiTokens(pageInput(options))
    printPage(output, page, columns, 'There are no tokens. Create one with: latchkey add-token')
  },
})

export const removeToken = defineCommand({
  example: 'latchkey remove-token 0zRC4w1Yh6eTqv9bX2kLmA',
  arguments: [['<id>', 'as latchkey tokens prints it']],
  async run({ output, homeToChange }, id) {
    await (await homeToChange()).removeApiToken(id)
    output.result({ id, removed: true }, ["Token removed. Use 'latchkey tokens' to see all tokens."])
  },
})

export const rotateToken = defineCommand({
  example: 'latchkey rotate-token 0zRC4w1Yh6eTqv9bX2kLmA --overlap 1d',
  arguments: [['<id>', 'as latchkey tokens prints it']],
  options: [
    ['--overlap <time>', 'How long the former token stays valid, such as 1d (default: not at all)'],
    ['--expires <time>', 'When the new token ends (default: when the former one would)'],
  ],
  async run({ output, homeToChange }, id, { overlap, expires }) {
    const rotation = {
      ...(overlap !== undefined && { overlap: duration(overlap, '--overlap') }),
      ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
    }
    printCreated(output, await (await homeToChange()).rotateApiToken(id, rotation))
  },
})
