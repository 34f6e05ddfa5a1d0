import type { AuditEventName } from '../../model/audit-event.js'
import type { KnownAsker, MailOutcome, MailPurpose } from '../../model/mail-limit.js'
import type { UserRecord } from '../../model/user.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from './audit.js'
import { findDevice } from './devices.js'

export type MailLimitPorts = Pick<
  Ports,
  'limiter' | 'devices' | 'users' | 'keyring' | 'clock' | 'audit' | 'random' | 'mails'
>

/** The client that asks for a mail. */
export interface MailAsker {
  visitor: Visitor
  /** The browser's device secret. */
  device: string | null
}

export interface MailRequest {
  purpose: MailPurpose
  /** Canonical. */
  address: string
  asker: MailAsker
  /** The audit event of the request. Where the limit refuses the mail, it is recorded as a failure. */
  event: AuditEventName
  userId: string | null
  sessionId?: string
  /** The signed-in account, where the mail goes to an address that it does not have. */
  account?: UserRecord
}

/**
 * Counts a mail that a request asks for. Without room for it, records that; the caller writes no mail and answers as ever.
 *
 * A known device of the account has a bucket of its own, and every network has one, so that a stranger who uses up the
 * mails of an address does not stop those of its owner (ATK-215, OWASP ASVS 5.0, 6.1.1).
 */
export async function countMail(ports: MailLimitPorts, request: MailRequest): Promise<MailOutcome> {
  const { purpose, address, asker, event, userId, sessionId } = request
  const known = await findKnownAsker(ports, request)
  const retryAfter = await ports.limiter.mail({ purpose, address, known, ip: asker.visitor.ip })
  if (retryAfter === null) return { mailSent: true }

  const facts = { userId, sessionId: sessionId ?? null, outcome: 'failure', detail: { reason: 'mail_limit' } } as const
  await ports.audit.record(auditEvent(ports, event, asker.visitor, facts))
  ports.mails.showRefused({ to: address, purpose, retryAfter })
  return { mailSent: false, retryAfter }
}

/**
 * The asker, if its device is known and the device's user has proved an address. Before that proof it may be a stranger's
 * browser: with optional verification, registering an address signs in, and every new sign-in makes another device.
 */
async function findKnownAsker(
  ports: MailLimitPorts,
  { address, asker, account }: MailRequest,
): Promise<KnownAsker | null> {
  const device = await findDevice(ports, asker.device)
  if (!device) return null
  if (account) return account.emailVerified && account.id === device.userId ? { accountId: account.id } : null
  const user = await ports.users.findById(device.userId)
  return user?.emailVerified && user.emailCanonical === address ? { deviceId: device.id } : null
}
