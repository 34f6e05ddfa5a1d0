import type { AuditEvent } from '../model/audit-event.js'
import type { LeasedMail, MailLease, MailState, OutboxMail, QueuedMail } from '../model/outbox-mail.js'

/** Mails that wait. Most are written by the verbs of other ports, in the step that makes them due. */
export interface Outbox {
  /** Writes a mail that belongs to no other step, with its audit event if there is one. */
  put(mail: OutboxMail, audit?: AuditEvent): Promise<void>

  /**
   * Leases up to `count` due mails until `leaseUntil`, the longest due first. Two workers never get the same mail while its
   * lease lasts.
   */
  lease(count: number, now: number, leaseUntil: number): Promise<LeasedMail[]>

  /** Erases the values of a sent mail and forgets it. False, and nothing changed, when another worker has leased it since. */
  sent(lease: MailLease): Promise<boolean>

  /**
   * Counts a failed attempt; due again at `nextAttemptAt`, or set aside for good when that is null. `reason` is a short
   * code. False, and nothing changed, when another worker has leased it since.
   */
  failed(lease: MailLease, reason: string, nextAttemptAt: number | null): Promise<boolean>

  /** The mail with that id, unless it is a decoy; null when it was sent or dropped. */
  find(id: string): Promise<QueuedMail | null>

  /**
   * Mails in the outbox, newest first; those written in the same second by descending id. `after` is the last one of the
   * previous page. Decoys are left out, because they are never sent.
   */
  list(filter: {
    state?: MailState
    after: { createdAt: number; id: string } | null
    limit: number
  }): Promise<QueuedMail[]>

  /**
   * Makes a mail due now, also one that was set aside. One that is due or being sent already is left alone, and no audit
   * event is written. False when it is not there.
   */
  retry(id: string, now: number, audit: AuditEvent): Promise<boolean>

  /**
   * Erases a mail unsent. A delivery that is under way is not stopped. False when it is not there: of concurrent calls,
   * exactly one is true.
   */
  drop(id: string, audit: AuditEvent): Promise<boolean>

  /** Forgets up to `count` mails that were set aside and written before that moment (Unix seconds); returns how many. */
  prune(before: number, count: number): Promise<number>

  /** How many mails wait, and since when the oldest has waited (Unix seconds). */
  depth(): Promise<{ waiting: number; oldestAt: number | null; setAside: number }>
}
