/** A mail that waits to be sent. Its values are sealed, and erased once it is sent. Times are Unix seconds. */
export interface OutboxMail {
  id: string
  /** Canonical address. */
  recipient: string
  template: string
  /** Sealed JSON of the values the template needs; the outbox id is bound to it. */
  sealedValues: string
  createdAt: number
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

/**
 * A mail of this template goes through the outbox like any other and is never sent: so that the work done for an address
 * does not tell whether it has an account (OWASP ASVS 5.0, 6.3.8).
 */
export const decoyTemplate = 'decoy'
