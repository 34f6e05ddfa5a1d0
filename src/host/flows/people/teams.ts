import type { AdminTokenEntry } from '../../../contract/admin-tokens.js'
import { AuthError, invalidField } from '../../../errors.js'
import { requireName } from '../../../flows/steps/require-account-fields.js'
import { isoTime } from '../../../lib/iso-time.js'
import type { Right } from '../../../model/right.js'
import type { Visitor } from '../../../model/visitor.js'
import type { TeamChanges, TeamWithMembers } from '../../store/people.js'
import { toEntries } from './admin-tokens.js'
import type { PeoplePorts } from './ports.js'
import { findOrInvite, type InvitePorts } from './project-users.js'
import { peopleStep, requireDone, type StepPorts } from './step.js'

/** A team as the control API shows it. */
export interface TeamEntry extends Omit<TeamWithMembers, 'createdAt'> {
  /** ISO 8601 in UTC. */
  createdAt: string
}

type TeamPorts = Pick<PeoplePorts, 'teams' | 'inForce'>

export async function listTeams({ teams }: Pick<PeoplePorts, 'teams'>): Promise<TeamEntry[]> {
  return (await teams.list()).map(toTeamEntry)
}

/** @throws {AuthError} `invalid_request`, `already_exists` for a name in use */
export async function createTeam(
  ports: StepPorts & TeamPorts,
  { name: typed, right, visitor }: { name: string; right: Right; visitor: Visitor },
): Promise<TeamEntry> {
  const name = requireTeamName(typed)
  const team = { id: ports.random.id(), name, right, createdAt: ports.clock.now() }
  const step = peopleStep(ports, 'team_created', visitor, { detail: { teamId: team.id, name, right } })
  requireDone(await ports.teams.create(team, step))
  return readTeam(ports, team.id)
}

/**
 * Sets name or right. A team that is so already stays as it is.
 *
 * @throws {AuthError} `not_found`, `invalid_request`, `already_exists` for a name in use, `last_admin`
 */
export async function changeTeam(
  ports: StepPorts & TeamPorts,
  { id, changes, visitor }: { id: string; changes: TeamChanges; visitor: Visitor },
): Promise<TeamEntry> {
  const name = changes.name === undefined ? {} : { name: requireTeamName(changes.name) }
  const right = changes.right === undefined ? {} : { right: changes.right }
  const step = peopleStep(ports, 'team_changed', visitor, { detail: { teamId: id, ...name, ...right } })
  requireDone(await ports.teams.change(id, { ...name, ...right }, step))
  return readTeam(ports, id)
}

/**
 * Removes a team, its memberships and its admin tokens.
 *
 * @param input.confirm the name of the team
 * @throws {AuthError} `not_found`, `last_admin`, `invalid_request` for another name
 */
export async function removeTeam(
  ports: StepPorts & TeamPorts,
  { id, confirm, visitor }: { id: string; confirm: string; visitor: Visitor },
): Promise<void> {
  const team = await ports.teams.find(id)
  if (!team) throw new AuthError('not_found')
  if (confirm !== team.name) {
    throw invalidField('confirm', 'must be the name of the team')
  }
  const detail = { teamId: id, name: team.name }
  requireDone(await ports.teams.remove(id, peopleStep(ports, 'team_removed', visitor, { detail })))
  await ports.inForce()
}

/**
 * Adds a user to a team. An address without an account is invited, and so is an account whose address is not verified.
 *
 * @returns `isNew` false: they are a member already, and nothing changed
 * @throws {AuthError} `not_found`, `invalid_request`
 */
export async function addTeamMember(
  ports: InvitePorts & TeamPorts,
  { id, email, visitor }: { id: string; email: string; visitor: Visitor },
): Promise<{ team: TeamEntry; isNew: boolean }> {
  const team = await ports.teams.find(id)
  if (!team) throw new AuthError('not_found')
  const userId = await findOrInvite(ports, { email, visitor })
  const step = peopleStep(ports, 'team_member_added', visitor, { userId, detail: { teamId: id, name: team.name } })
  const outcome = requireDone(await ports.teams.addMember(id, userId, ports.clock.now(), step))
  return { team: await readTeam(ports, id), isNew: outcome === 'added' }
}

/**
 * Takes a user out of a team.
 *
 * @returns admin tokens of the team that this user made, which go on working
 * @throws {AuthError} `not_found`, `last_admin`
 */
export async function removeTeamMember(
  ports: StepPorts & TeamPorts & Pick<PeoplePorts, 'projectTokens' | 'spaces'>,
  { id, userId, visitor }: { id: string; userId: string; visitor: Visitor },
): Promise<AdminTokenEntry[]> {
  const step = peopleStep(ports, 'team_member_removed', visitor, { userId, detail: { teamId: id } })
  requireDone(await ports.teams.removeMember(id, userId, step))
  await ports.inForce()
  return toEntries(ports, await ports.projectTokens.listOfTeams({ by: userId, teamId: id }))
}

function requireTeamName(typed: string): string {
  const name = requireName(typed)
  if (name !== null) return name
  throw invalidField('name', 'must tell which team it is')
}

async function readTeam({ teams, inForce }: TeamPorts, id: string): Promise<TeamEntry> {
  await inForce()
  const team = await teams.find(id)
  // Removed by another administrator since.
  if (!team) throw new AuthError('not_found')
  return toTeamEntry(team)
}

function toTeamEntry({ createdAt, ...team }: TeamWithMembers): TeamEntry {
  return { ...team, createdAt: isoTime(createdAt) }
}
