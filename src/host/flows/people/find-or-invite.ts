import { AuthError } from '../../../errors.js'
import { inviteAccount } from '../../../flows/control/invite-account.js'
import { inviteAgain } from '../../../flows/control/mail-verification.js'
import { requireEmail } from '../../../flows/steps/require-email.js'
import type { Visitor } from '../../../model/visitor.js'
import type { Ports } from '../../../ports.js'
import type { PeoplePorts } from './ports.js'

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
