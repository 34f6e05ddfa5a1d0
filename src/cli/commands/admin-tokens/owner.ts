import type { HostHome } from '../../host-home.js'
import type { Prompts } from '../../prompts.js'
import { ToolError } from '../../tool-error.js'

const personal = 'personal'
const question = 'Select personal account or team to add admin token to'

/**
 * Whose right a new admin token has: `personal`, or the id of a team that the caller is a member of.
 *
 * @throws {ToolError} `not_found`; usage without a terminal
 */
export async function chooseOwner(host: HostHome, prompts: Prompts, given: string | undefined): Promise<string> {
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
