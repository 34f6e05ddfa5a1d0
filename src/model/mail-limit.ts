/** What a requested mail is for. The mail limit counts each purpose apart, so that using up one leaves the others. */
export type MailPurpose = 'registration' | 'reset' | 'otp' | 'email_change'

/** Whether a mail that a request asked for was written. */
export type MailOutcome =
  | { mailSent: true }
  /** The mail limit refused it. `retryAfter`: seconds until there is room again. */
  | { mailSent: false; retryAfter: number }

/**
 * A known device of the account at the address; or, where a mail goes to an address that the account does not have, the
 * account that asks from a known device.
 */
export type KnownAsker = { deviceId: string } | { accountId: string }

/** A mail that the mail limit refused, as the development mailbox shows it. */
export interface RefusedMail {
  to: string
  purpose: MailPurpose
  /** Seconds until there is room again. */
  retryAfter: number
}

/** A security notice that is about to be sent. */
export interface CountedNotice {
  /** Of the mail. */
  id: string
  /** What it is about. */
  kind: string
  /** Canonical. */
  address: string
}

/** Whether a notice is sent as it is, as the one that sums up until then (Unix seconds), or not at all. */
export type NoticeVerdict = 'send' | { sumUpUntil: number } | 'drop'
