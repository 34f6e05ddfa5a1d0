import { AuthError } from '../../errors.js'
import type { EmailAddress } from '../../lib/email-address.js'
import { type Account, toAccount } from '../../model/account.js'
import { isProved } from '../../model/admin-role.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { draftInvitation } from '../password/draft-reset.js'
import { requireStrong } from '../password/reset.js'
import { newUser, provedByApplication } from '../registration/register.js'
import { visitorSource } from '../steps/account-limits.js'
import { auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { notice } from '../steps/notices.js'
import { requireEmail } from '../steps/require-account-fields.js'

export type CreateAdminPorts = Pick<
  Ports,
  'users' | 'passwords' | 'passwordFaults' | 'keyring' | 'mails' | 'random' | 'clock' | 'policy'
>

/** An administrator's account, and whether it is new. */
export interface CreatedAdmin {
  account: Account
  created: boolean
}

/**
 * Makes the account of an address of `admin.emails` an administrator's, for the owner of the application. The address counts
 * as proved. An existing account loses its sessions, and if its address was not proved also everything that a stranger may
 * have set: password, second factor and identities.
 *
 * @param input `password: null` mails an invitation, by which its reader sets one within seven days
 * @throws {AuthError} `invalid_request` for an address that is not in `admin.emails`, `weak_password` with `reasons`,
 *   `account_disabled`, `email_taken` where the address is reserved for another account
 */
export async function createAdmin(
  ports: CreateAdminPorts,
  input: { email: string; password: string | null; visitor: Visitor },
): Promise<CreatedAdmin> {
  requireAdminAddress(ports, input.email)
  return entrustAddress(ports, input)
}

/**
 * The same for any address, without the role: a space host grants the right itself.
 *
 * @throws {AuthError} as `createAdmin`
 */
export async function entrustAddress(
  ports: CreateAdminPorts,
  input: { email: string; password: string | null; visitor: Visitor },
): Promise<CreatedAdmin> {
  const address = requireEmail(input.email)
  if (input.password !== null) await requireStrong(ports, input.password, address.canonical)
  const passwordHash =
    input.password === null ? null : await ports.passwords.hash(input.password, visitorSource(input.visitor))
  const change: Change = { passwordHash, visitor: input.visitor }

  const existing = await ports.users.findByEmail(address.canonical)
  if (existing) return entrust(ports, existing, change)
  const fresh = await create(ports, address, change)
  if (fresh) return fresh
  // Another process created the account meanwhile, or a change of address reserves it.
  const other = await ports.users.findByEmail(address.canonical)
  if (!other) throw new AuthError('email_taken')
  return entrust(ports, other, change)
}

/** @throws {AuthError} `invalid_request` unless the setting `admin.emails` has this address */
function requireAdminAddress({ policy }: Pick<Ports, 'policy'>, email: string): void {
  if (policy.adminEmails.includes(requireEmail(email).canonical)) return
  const errors = [{ path: 'email', message: 'is not in the setting admin.emails' }]
  throw new AuthError('invalid_request', { errors })
}

interface Change {
  /** null: an invitation. */
  passwordHash: string | null
  visitor: Visitor
}

/** Null when the address is taken. */
async function create(
  ports: CreateAdminPorts,
  { typed, canonical }: EmailAddress,
  { passwordHash, visitor }: Change,
): Promise<CreatedAdmin | null> {
  const fresh = newUser(ports, { email: typed, canonical, name: null, fields: {} })
  const user: UserRecord = { ...fresh, passwordHash, ...provedByApplication(true) }
  const detail = { admin: true, ...(passwordHash === null && { invited: true }) }
  const audit = auditEvent(ports, 'account_created', visitor, { userId: user.id, detail })
  const invitation = passwordHash === null ? draftInvitation(ports, user) : undefined
  if (!(await ports.users.create(user, audit, invitation))) return null
  return { account: toAccount(user, ports.policy.adminEmails), created: true }
}

async function entrust(
  ports: CreateAdminPorts,
  user: UserRecord,
  { passwordHash, visitor }: Change,
): Promise<CreatedAdmin> {
  const now = ports.clock.now()
  if (isDisabled(user, now)) throw new AuthError('account_disabled')
  const { id, emailCanonical } = user
  const invitation = passwordHash === null ? draftInvitation(ports, user) : null
  const detail = { admin: true, ...(invitation && { invited: true }) }
  const step = {
    until: changeMattersUntil(ports),
    audit: auditEvent(ports, 'account_updated', visitor, { userId: id, detail }),
    ...(invitation ? { mail: invitation.mail } : noticeFor(ports, user)),
  }
  const given = { passwordHash, invitation: invitation?.token ?? null, now }
  const changed = await ports.users.entrust({ id, emailCanonical }, given, step)
  if (!changed) throw new AuthError('not_found')
  return { account: toAccount(changed, ports.policy.adminEmails), created: false }
}

/** The owner of a proved address learns of the new password. Any other address may be a stranger's mailbox. */
function noticeFor(ports: CreateAdminPorts, user: UserRecord) {
  return isProved(user) ? notice(ports, 'password-changed', { user, userAgent: null }) : {}
}
