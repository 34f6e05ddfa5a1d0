import { AuthError } from '../../errors.js'
import { type Account, type AccountChanges, type NewAccount, toAccount } from '../../model/account.js'
import type { AuditEventName } from '../../model/audit-event.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { requireStrong } from '../password/reset.js'
import { newUser, provedByApplication } from '../registration/register.js'
import { visitorSource } from '../steps/account-limits.js'
import { type AuditFacts, auditEvent } from '../steps/audit.js'
import { changeMattersUntil } from '../steps/issue-tokens.js'
import { lastAdminFault } from '../steps/last-admin.js'
import { notice } from '../steps/notices.js'
import {
  requireDate,
  requireEmail,
  requireFactorOff,
  requireKnown,
  requireName,
  requireReason,
  requireRoles,
} from '../steps/require-account-fields.js'
import { factorNotice, forgetFactorTries } from '../two-factor/second-factor.js'
import { findWithFactor } from '../two-factor/turn-off.js'
import { requireOther } from './require-other.js'

export type AdministerPorts = Pick<
  Ports,
  'users' | 'passwords' | 'passwordFaults' | 'mails' | 'clock' | 'random' | 'policy' | 'limiter'
>

/** Which account, and who changes it. */
interface Change {
  id: string
  visitor: Visitor
}

/**
 * Creates an account. It sends no mail.
 *
 * @throws {AuthError} `email_taken`, `invalid_request`, `weak_password`, `busy`
 */
export async function createAccount(
  ports: AdministerPorts,
  { account: input, visitor }: { account: NewAccount; visitor: Visitor },
): Promise<Account> {
  requireKnown(input, ['email', 'password', 'emailVerified', 'name', 'roles'])
  const email = requireEmail(input.email)
  const name = requireName(input.name ?? null)
  const roles = requireRoles(input.roles ?? [])
  if (input.password !== undefined) await requireStrong(ports, input.password, email.canonical)
  const passwordHash =
    input.password === undefined ? null : await ports.passwords.hash(input.password, visitorSource(visitor))

  const fresh = newUser(ports, { email: email.typed, canonical: email.canonical, name, fields: {} })
  const user: UserRecord = { ...fresh, passwordHash, roles, ...provedByApplication(input.emailVerified === true) }
  const created = await ports.users.create(user, auditEvent(ports, 'account_created', visitor, { userId: user.id }))
  if (!created) throw new AuthError('email_taken')
  return toAccount(user, ports.policy.adminEmails)
}

/**
 * Sets name or roles. With other roles every access token is revoked at once, and a refresh brings the new ones. Removes a
 * second factor that its owner has lost: every session ends, and the owner gets a notice.
 *
 * @throws {AuthError} `not_found`, `invalid_request`
 */
export async function updateAccount(
  ports: AdministerPorts,
  { id, changes, visitor }: Change & { changes: AccountChanges },
): Promise<Account> {
  requireKnown(changes, ['name', 'roles', 'twoFactor'])
  const name = changes.name === undefined ? {} : { name: requireName(changes.name) }
  const roles = changes.roles === undefined ? {} : { roles: requireRoles(changes.roles) }
  const askedOff = requireFactorOff(changes.twoFactor)
  const lost = askedOff ? await findWithFactor(ports, id) : null
  const off = lost ? ({ twoFactor: false } as const) : {}
  const detail = { ...('roles' in roles ? { roles: roles.roles.join(',') } : {}), ...off }
  const records = {
    ...step(ports, 'account_updated', { id, visitor }, detail),
    ...(lost && factorNotice(ports, { user: lost, visitor, change: 'off' })),
  }
  const updated = await ports.users.updateAccount(id, { ...name, ...roles, ...off }, records)
  // Another call removed the factor in the meantime, or the account.
  if (!updated && lost) return updateAccount(ports, { id, changes, visitor })
  const account = found(ports, updated)
  // Also when the factor is gone already, because an earlier call may have failed halfway.
  if (askedOff) await forgetFactorTries(ports, id)
  return account
}

/**
 * Sets a password, ends every session and mails a notice.
 *
 * @throws {AuthError} `not_found`, `weak_password`, `busy`
 */
export async function setPassword(
  ports: AdministerPorts,
  { id, password, visitor }: Change & { password: string },
): Promise<void> {
  const user = await ports.users.findById(id)
  if (!user) throw new AuthError('not_found')
  await requireStrong(ports, password, user.emailCanonical)
  const passwordHash = await ports.passwords.hash(password, visitorSource(visitor))
  const records = {
    ...step(ports, 'password_changed', { id, visitor }),
    ...notice(ports, 'password-changed', { user, userAgent: visitor.userAgent }),
  }
  found(ports, await ports.users.setPassword(id, passwordHash, records))
}

/**
 * Disables an account: every session, access token and pending link or code of it is revoked at once.
 *
 * @throws {AuthError} `not_found`, `invalid_request`, `would_lock_out` for the own account and the last administrator
 *   (in the host `last_admin`)
 */
export async function disableAccount(
  ports: AdministerPorts & Pick<Ports, 'home'>,
  { id, options, visitor }: Change & { options: { reason?: string; until?: Date | string } },
): Promise<Account> {
  requireKnown(options, ['reason', 'until'])
  requireOther(visitor, id)
  const until = options.until === undefined ? null : requireDate(options.until)
  const reason = options.reason === undefined ? null : requireReason(options.reason)
  const disabling = { at: ports.clock.now(), until, reason }
  const records = step(ports, 'account_disabled', { id, visitor }, reason === null ? {} : { reason })
  const disabled = await ports.users.disable(id, disabling, records, ports.policy.adminEmails)
  if (disabled === 'last_admin') throw lastAdminFault(ports)
  return found(ports, disabled)
}

/**
 * Enables an account. One that is not disabled stays as it is.
 *
 * @throws {AuthError} `not_found`
 */
export async function enableAccount(ports: AdministerPorts, input: Change): Promise<Account> {
  const records = step(ports, 'account_enabled', input)
  return found(ports, await ports.users.enable(input.id, ports.clock.now(), records))
}

function step(
  ports: AdministerPorts,
  event: AuditEventName,
  { id, visitor }: Change,
  detail: NonNullable<AuditFacts['detail']> = {},
) {
  return { until: changeMattersUntil(ports), audit: auditEvent(ports, event, visitor, { userId: id, detail }) }
}

function found({ policy }: Pick<Ports, 'policy'>, user: UserRecord | null): Account {
  if (!user) throw new AuthError('not_found')
  return toAccount(user, policy.adminEmails)
}
