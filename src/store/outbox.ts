import type { AuditEvent } from '../model/audit-event.js'
import type { LeasedMail, MailLease, OutboxMail } from '../model/outbox-mail.js'

/** Mails that wait. Most are written by the verbs of other ports, in the step that makes them due. */
export interface Outbox {
  /** Writes a mail that belongs to no other step, with its audit event if there is one. */
  put(mail: OutboxMail, audit?: AuditEvent): Promise<void>

  /**
   * Leases up to `count` due mails until `leaseUntil`, those due longest first. No two workers get the same mail while a
   * lease lives.
   */
  lease(count: number, now: number, leaseUntil: number): Promise<LeasedMail[]>

  /** Erases the values of a sent mail and forgets it. False, and nothing changed, when another worker has leased it since. */
  sent(lease: MailLease): Promise<boolean>

  /**
   * Counts a failed attempt; due again at `nextAttemptAt`, or set aside for good when that is null. `reason` is a short
   * code. False, and nothing changed, when another worker has leased it since.
   */
  failed(lease: MailLease, reason: string, nextAttemptAt: number | null): Promise<boolean>

  /** Forgets up to `count` mails that were set aside and written before that moment (Unix seconds); returns how many. */
  prune(before: number, count: number): Promise<number>

  /** How many wait, and since when the oldest does (Unix seconds). */
  depth(): Promise<{ waiting: number; oldestAt: number | null; setAside: number }>
}
