import type { HostHome, ProjectUser, Team } from '../../host-home.js'
import { ToolError } from '../../tool-error.js'

/** By id or address. @throws {ToolError} `not_found` */
export async function projectUserOf(host: HostHome, addressOrId: string): Promise<ProjectUser> {
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
