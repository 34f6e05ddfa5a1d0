import type { Right } from '../../model/right.js'
import { isInteractive } from '../environment.js'
import type { ActorLine, AdminTokenLine, HostHome, ProjectUserLine, Team } from '../host-home.js'
import type { Tool } from '../tool.js'
import { ToolError, usage } from '../tool-error.js'

export const rightOption = '--right <right>'

/** @throws {ToolError} usage */
export function requireRight(text: string | undefined): Right {
  const right = text?.toUpperCase()
  if (right === 'ADMIN' || right === 'MEMBER') return right
  throw usage('--right takes ADMIN, who may do everything, or MEMBER, who reads what shows no secret and no data.')
}

/** By id or address. @throws {ToolError} `not_found` */
export async function projectUserOf(host: HostHome, addressOrId: string): Promise<ProjectUserLine> {
  const sought = addressOrId.trim().toLowerCase()
  const users = await host.listProjectUsers()
  const found = users.find(({ id, email }) => id === addressOrId || email.toLowerCase() === sought)
  if (found === undefined) throw new ToolError(1, 'not_found', `${addressOrId} is no user of the project.`)
  return found
}

/** By id or name. @throws {ToolError} `not_found` */
export async function teamOf(host: HostHome, nameOrId: string): Promise<Team> {
  const found = (await host.listTeams()).find(({ id, name }) => id === nameOrId || name === nameOrId)
  if (found === undefined) throw new ToolError(1, 'not_found', `There is no team ${nameOrId}.`)
  return found
}

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
  }: { tokens: readonly AdminTokenLine[]; choice: 'keep' | 'remove' | undefined; email: string },
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

/** Names people where the caller may read them; without, their ids stand for them. */
export async function actorNames(host: HostHome): Promise<(actor: ActorLine | null) => string> {
  const { user = null } = await host.describe()
  const users = user?.right === 'ADMIN' ? await host.listProjectUsers() : []
  const names = new Map(users.map(({ id, name, email }) => [id, name ?? email]))
  return (actor) => {
    if (actor === null) return ''
    const { kind, id } = actor
    if (kind === 'adminToken') return `token ${id ?? ''}`
    return id === null ? kind : (names.get(id) ?? id)
  }
}
