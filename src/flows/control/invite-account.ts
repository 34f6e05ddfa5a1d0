import { AuthError } from '../../errors.js'
import { type Account, toAccount } from '../../model/account.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { draftInvitation } from '../password/draft-reset.js'
import { newUser } from '../registration/register.js'
import { auditEvent } from '../steps/audit.js'
import { requireEmail, requireName, requireRoles } from '../steps/require-account-fields.js'
import { type AdministerPorts, createAccount } from './administer-accounts.js'

export type InviteAccountPorts = Pick<Ports, 'users' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy'>

export interface InvitedAccount {
  email: string
  name?: string | null | undefined
  roles?: readonly string[] | undefined
}

/**
 * Creates an account without a password, as an administrator asks for it. With `invite`, the user is mailed a link that sets
 * one; otherwise no mail is sent.
 *
 * @throws {AuthError} `email_taken`, `invalid_request`
 */
export function addAccount(
  ports: InviteAccountPorts & AdministerPorts,
  { invite, account, visitor }: { invite: boolean; account: InvitedAccount; visitor: Visitor },
): Promise<Account> {
  if (invite) return inviteAccount(ports, { account, visitor })
  const { email, name = null, roles = [] } = account
  return createAccount(ports, { account: { email, name, roles }, visitor })
}

/**
 * Creates an account without a password and mails a link that sets one, valid for seven days. Asking for a reset does not
 * replace the link; the first proof of the mailbox drops it. The name and the roles given here survive that proof.
 *
 * @throws {AuthError} `email_taken`, `invalid_request`
 */
export async function inviteAccount(
  ports: InviteAccountPorts,
  { account, visitor }: { account: InvitedAccount; visitor: Visitor },
): Promise<Account> {
  const { typed, canonical } = requireEmail(account.email)
  const name = requireName(account.name ?? null)
  const roles = requireRoles(account.roles ?? [])
  const fresh = newUser(ports, { email: typed, canonical, name, fields: {} })
  const user: UserRecord = { ...fresh, roles, verifiedBy: 'invitation' }
  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id, detail: { invited: true } })
  if (!(await ports.users.create(user, audit, draftInvitation(ports, user)))) throw new AuthError('email_taken')
  return toAccount(user, ports.policy.adminEmails)
}
