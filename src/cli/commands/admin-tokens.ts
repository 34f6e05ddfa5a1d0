import { type AdminCommand, adminCommands } from '../../contract/admin-command.js'
import { isAdminCommand } from '../admin-token.js'
import { type CommandFile, defineCommand, type OptionsOf, repeated, separated } from '../command.js'
import type { AdminTokenCalls, AdminTokenLine, HostHome } from '../host-home.js'
import type { Prompts } from '../prompts.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'
import { type Columns, printList } from './lists.js'
import { futureTime, shortTime } from './units.js'

const newTokenOptions = [
  ['--owner <owner>', 'personal, or a team that you are a member of, instead of choosing'],
  ['--name <name>', 'By which you recognise the token'],
  ['--expires <time>', 'When it ends, such as 90d or 2030-01-31 (default: 365d)'],
  ['--no-expiry', 'It never ends'],
  ['--spaces <spaces>', 'For these spaces only, with commas between (default: all)', { parse: separated }],
  ['--commands <commands>', `For these only, of: ${adminCommands.join(', ')}`, { parse: separated }],
  ['--cidr <network>', 'Accept it from this network only; may be repeated', { parse: repeated }],
] as const

export const addAdminToken = defineCommand({
  example: 'latchkey add-admintoken --owner personal --spaces dev --commands deploy --expires 90d',
  options: newTokenOptions,
  async run({ output, prompts, hostHomeToChange }, options) {
    const limits = limitsOf(options)
    const host = await hostHomeToChange()
    const owner = await chooseOwner(host, prompts, options.owner)
    const created = await host.createAdminToken({ owner, ...limits })
    output.result(created, [`New admin token added:  ${created.token}`])
    output.note('It will never be shown in full again. Use it with --admintoken or LATCHKEY_ADMIN_TOKEN.')
  },
})

function limitsOf({ owner: _, expiry, expires, commands, cidr, ...limits }: OptionsOf<typeof newTokenOptions>) {
  if (!expiry && expires !== undefined) throw usage('Give either --expires or --no-expiry, not both.')
  return {
    ...limits,
    ...(expires !== undefined && { expiresAt: futureTime(expires, '--expires') }),
    ...(!expiry && { expiresAt: null }),
    ...(commands !== undefined && { commands: commands.map(requireCommand) }),
    ...(cidr !== undefined && { cidrs: cidr }),
  }
}

function requireCommand(name: string): AdminCommand {
  if (isAdminCommand(name)) return name
  throw usage(`--commands takes some of ${adminCommands.join(', ')}, not "${name}".`)
}

const personal = 'personal'
const question = 'Select personal account or team to add admin token to'

/**
 * Whose right a new admin token has: `personal`, or the id of a team that the caller is a member of.
 *
 * @throws {ToolError} `not_found`; usage without a terminal
 */
async function chooseOwner(host: HostHome, prompts: Prompts, given: string | undefined): Promise<string> {
  if (given === personal) return personal
  const { user } = await host.describe()
  const teams = (await host.listTeams()).filter(({ members }) => members.some(({ id }) => id === user?.id))
  if (given !== undefined) {
    const team = teams.find(({ id, name }) => id === given || name === given)
    if (team === undefined) throw new ToolError(1, 'not_found', `You are a member of no team ${given}.`)
    return team.id
  }
  const own = { value: personal, label: `Personal account (${user?.email ?? ''})` }
  const others = teams.map(({ id, name, right }) => ({ value: id, label: `Team ${name} (${right})` }))
  return prompts.select(question, [own, ...others], '--owner personal or --owner <team>')
}

const columns: Columns<AdminTokenLine> = {
  ID: ({ id }) => id,
  '5 first characters': ({ start }) => start,
  NAME: ({ name }) => name,
  OWNER: ({ owner: { kind, name } }) => (kind === 'team' ? `team ${name}` : `personal ${name}`.trim()),
  'MADE BY': ({ madeBy }) => madeBy.email ?? 'removed account',
  SPACES: ({ spaces }) => spaces?.join(' ') ?? 'all',
  COMMANDS: ({ commands }) => commands?.join(' ') ?? 'all',
  'LAST USE': ({ lastUse }) => (lastUse === null ? 'never' : [lastUse.day, lastUse.network ?? ''].join(' ').trim()),
  EXPIRES: ({ expiresAt }) => shortTime(expiresAt, 'never'),
}

export const adminTokens = defineCommand({
  example: 'latchkey admintokens',
  async run({ output, adminTokens }) {
    const tokens = await (await adminTokens()).listAdminTokens()
    printList(output, tokens, columns, { none: 'There are no admin tokens. Create one with: latchkey add-admintoken' })
  },
})

export const removeAdminToken = defineCommand({
  example: 'latchkey remove-admintoken a41f0c9d5e7b2a63',
  arguments: [['[id]', 'as latchkey admintokens prints it; without one, you choose']],
  options: [['--all', 'Remove every admin token of the project']],
  async run(tool, id, { all = false }) {
    if (all && id !== undefined) throw usage('Give either an id or --all, not both.')
    const host = await tool.adminTokensToChange()
    const tokens = await host.listAdminTokens()
    if (all) await removeAll(tool, host, tokens)
    else await removeOne(tool, host, await chosen(tool, tokens, id))
  },
})

async function chosen({ prompts }: Tool, tokens: readonly AdminTokenLine[], id: string | undefined) {
  const choices = tokens.map((token) => ({ value: token.id, label: `${token.start}…  ${token.name}` }))
  if (id === undefined && choices.length === 0) throw new ToolError(1, 'not_found', 'There are no admin tokens.')
  const wanted =
    id ?? (await prompts.select('Select the admin token to remove', choices, 'its id: remove-admintoken <id>'))
  const found = tokens.find((token) => token.id === wanted)
  if (found === undefined) throw new ToolError(1, 'not_found', `There is no admin token ${wanted}.`)
  return found
}

async function removeOne({ output }: Tool, host: AdminTokenCalls, { id, owner }: AdminTokenLine): Promise<void> {
  await host.removeAdminToken(id)
  const whose = owner.kind === 'team' ? `team ${owner.name}` : 'personal account'
  output.result({ id, removed: true }, [`Admin token removed successfully from ${whose}`])
}

async function removeAll(
  { output, prompts }: Tool,
  host: AdminTokenCalls,
  tokens: readonly AdminTokenLine[],
): Promise<void> {
  await prompts.agree(
    `This removes all ${tokens.length} admin tokens of the project, those of other people too. Go on?`,
  )
  const removed = await host.removeAllAdminTokens()
  output.result({ removed }, [`Removed ${removed} admin tokens.`])
}

/** `remove-admintoken` below the list of admin tokens. */
export const removeFromList: CommandFile = { ...removeAdminToken, example: 'latchkey admintokens remove --all' }
