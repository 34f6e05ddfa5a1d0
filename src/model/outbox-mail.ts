import { isoTime } from '../lib/iso-time.js'

/** A mail that waits to be sent. Its values are sealed, and erased once it is sent. Times are Unix seconds. */
export interface OutboxMail {
  id: string
  /** Canonical address. */
  recipient: string
  template: string
  /** Sealed JSON of the values the template needs; the outbox id is bound to it. */
  sealedValues: string
  /** From when on it is to be sent. Of a held mail that may move forward. */
  createdAt: number
}

/** A mail that is written now and due later, under an id that is known beforehand. */
export interface HeldMail {
  id: string
  /** Unix seconds. */
  dueAt: number
}

/** The id of the notice about an impersonation. It is held until the impersonation ends, so that no crash can suppress it. */
export function impersonationMailId(sessionId: string): string {
  return `imp-${sessionId}`
}

/** Who works on a mail: every lease has an id of its own. */
export interface MailLease {
  id: string
  leaseId: string
}

/** A mail that a worker has leased. */
export interface LeasedMail extends OutboxMail, MailLease {
  /** How often it was tried before. */
  attempts: number
}

/** Whether a mail is still to be sent, or was set aside for good. */
export type MailState = 'waiting' | 'set_aside'

/** A mail in the outbox without its sealed values. Times are Unix seconds. */
export interface QueuedMail extends Omit<OutboxMail, 'sealedValues'> {
  state: MailState
  /** How often it was tried. */
  attempts: number
  /** When it is due; null once it was set aside. */
  nextAttemptAt: number | null
  /** Why the last attempt failed, a short code; null before the first. */
  lastReason: string | null
}

/** A mail as the control API shows it: no address, no text. Times are ISO 8601 in UTC. */
export interface QueuedMailEntry {
  id: string
  template: string
  /** Of the recipient's address. */
  domain: string
  state: MailState
  attempts: number
  /** When it is due; null once it was set aside. */
  nextAt: string | null
  lastReason: string | null
}

export function toQueuedMailEntry(mail: QueuedMail): QueuedMailEntry {
  const { id, template, recipient, state, attempts, nextAttemptAt, lastReason } = mail
  const domain = recipient.slice(recipient.lastIndexOf('@') + 1)
  const nextAt = nextAttemptAt === null ? null : isoTime(nextAttemptAt)
  return { id, template, domain, state, attempts, nextAt, lastReason }
}

/**
 * A mail of this template goes through the outbox like any other and is never sent: so that the work done for an address
 * does not tell whether it has an account (OWASP ASVS 5.0, 6.3.8).
 */
export const decoyTemplate = 'decoy'
