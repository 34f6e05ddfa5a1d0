import { AuthError } from '../../errors.js'
import { type Account, toAccount } from '../../model/account.js'
import { type AuditEntry, toAuditEntry } from '../../model/audit-event.js'
import { type SessionEntry, toSessionEntry } from '../../model/session.js'
import type { Ports } from '../../ports.js'
import { listSessions } from '../session/sessions.js'

const shownEvents = 50

/** One account with everything that an administrator sees of it. */
export interface WholeAccount {
  account: Account
  identities: Account['identities']
  /** Its live sessions, newest sign-in first. */
  sessions: readonly SessionEntry[]
  /** The last 50 audit events about it, newest first. */
  events: readonly AuditEntry[]
}

/** @throws {AuthError} `not_found` */
export async function readWholeAccount(
  ports: Pick<Ports, 'users' | 'sessions' | 'audit' | 'clock' | 'policy'>,
  userId: string,
): Promise<WholeAccount> {
  const [user, sessions, events] = await Promise.all([
    ports.users.findById(userId),
    listSessions(ports, userId),
    ports.audit.list({ userId, limit: shownEvents }),
  ])
  if (!user) throw new AuthError('not_found')
  const account = toAccount(user, ports.policy.adminEmails)
  return {
    account,
    identities: account.identities,
    sessions: sessions.map(toSessionEntry),
    events: events.map(toAuditEntry),
  }
}
