import type { AdminTokenEntry } from '../../../contract/admin-tokens.js'
import { AuthError, invalidField } from '../../../errors.js'
import { inviteAccount } from '../../../flows/control/invite-account.js'
import { inviteAgain } from '../../../flows/control/mail-verification.js'
import { requireEmail } from '../../../flows/steps/require-account-fields.js'
import { parseEmailAddress } from '../../../lib/email-address.js'
import type { Right } from '../../../model/right.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { ProjectUser } from '../../store/people.js'
import { toEntries } from './admin-tokens.js'
import type { PeoplePorts } from './ports.js'
import { peopleStep, requireDone, type StepPorts } from './step.js'

/** A user of the project as the control API shows it. */
interface ProjectUserEntry extends Omit<ProjectUser, 'proved'> {
  /** What they may do now: the higher of the own and the teams' right, null until the address is verified. */
  inForce: Right | null
}

type UserPorts = Pick<PeoplePorts, 'projectRights' | 'inForce'>

export async function listProjectUsers({
  projectRights,
}: Pick<PeoplePorts, 'projectRights'>): Promise<ProjectUserEntry[]> {
  return (await projectRights.list()).map(toProjectUserEntry)
}

/**
 * Gives a user a right. An address without an account is invited, and so is an account whose address is not verified.
 *
 * @returns `isNew` false: the user had this right already, and nothing changed
 * @throws {AuthError} `invalid_request`, `already_exists` where the user has the other right
 */
export async function grantRight(
  ports: InvitePorts & UserPorts,
  { email, right, visitor }: { email: string; right: Right; visitor: Visitor },
): Promise<{ user: ProjectUserEntry; isNew: boolean }> {
  const userId = await findOrInvite(ports, { email, visitor })
  const step = peopleStep(ports, 'right_granted', visitor, { userId, detail: { right } })
  const outcome = requireDone(await ports.projectRights.grant(userId, right, step))
  return { user: await readUser(ports, userId), isNew: outcome === 'granted' }
}

/**
 * Sets the right of a user of the project. One who has this right already stays as they are.
 *
 * @throws {AuthError} `not_found`, `last_admin`
 */
export async function changeRight(
  ports: StepPorts & UserPorts,
  { id, right, visitor }: { id: string; right: Right; visitor: Visitor },
): Promise<ProjectUserEntry> {
  const step = peopleStep(ports, 'right_changed', visitor, { userId: id, detail: { right } })
  requireDone(await ports.projectRights.change(id, right, step))
  return readUser(ports, id)
}

/**
 * Takes away a user's right and memberships. The account stays.
 *
 * @param input.confirm the address of the account
 * @returns admin tokens of teams that this user made, which go on working
 * @throws {AuthError} `not_found`, `last_admin`, `invalid_request` for another address
 */
export async function removeProjectUser(
  ports: StepPorts & UserPorts & Pick<PeoplePorts, 'projectTokens' | 'spaces'>,
  { id, confirm, visitor }: { id: string; confirm: string; visitor: Visitor },
): Promise<AdminTokenEntry[]> {
  const user = await ports.projectRights.find(id)
  if (!user) throw new AuthError('not_found')
  if (parseEmailAddress(confirm)?.canonical !== parseEmailAddress(user.email)?.canonical) {
    throw invalidField('confirm', 'must be the address of the account')
  }
  requireDone(await ports.projectRights.remove(id, peopleStep(ports, 'right_removed', visitor, { userId: id })))
  await ports.inForce()
  return toEntries(ports, await ports.projectTokens.listOfTeams({ by: id, teamId: null }))
}

async function readUser({ projectRights, inForce }: UserPorts, id: string): Promise<ProjectUserEntry> {
  await inForce()
  const user = await projectRights.find(id)
  // Removed by another administrator since.
  if (!user) throw new AuthError('not_found')
  return toProjectUserEntry(user)
}

function toProjectUserEntry({ proved, ...user }: ProjectUser): ProjectUserEntry {
  const all = [user.right, ...user.teams.map(({ right }) => right)]
  const highest = all.includes('ADMIN') ? 'ADMIN' : 'MEMBER'
  return { ...user, inForce: proved ? highest : null }
}

export type InvitePorts = Pick<Ports, 'users' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy' | 'oneTimeTokens'> &
  Pick<PeoplePorts, 'projectRights'>

/**
 * The id of the account of an address that gets a right. An address without an account is invited, which makes one. An account whose
 * address is not verified is invited too, unless it is of the project already: a stranger may have made it. Its rights count
 * from the first proof of the address on, which removes what a stranger wrote before (ATK-190).
 *
 * The mail is due before the right is given, so repeating a request that broke off gives both.
 *
 * @throws {AuthError} `invalid_request`
 */
export async function findOrInvite(
  ports: InvitePorts,
  { email, visitor }: { email: string; visitor: Visitor },
): Promise<string> {
  const { canonical } = requireEmail(email)
  const user = await ports.users.findByEmail(canonical)
  if (user) {
    const isNew = !user.emailVerified && (await ports.projectRights.find(user.id)) === null
    if (isNew) await inviteAgain(ports, user, visitor)
    return user.id
  }
  try {
    return (await inviteAccount(ports, { account: { email }, visitor })).id
  } catch (error) {
    const isLate = error instanceof AuthError && error.code === 'email_taken'
    // Registered meanwhile: then it is the account of that address.
    if (isLate && (await ports.users.findByEmail(canonical))) return findOrInvite(ports, { email, visitor })
    throw error
  }
}
