import type { CountedNotice, KnownAsker, MailPurpose, NoticeVerdict } from '../model/mail-limit.js'
import type { Limit, LimitKind } from '../settings.js'

/** The kinds with a limit per account (a user or an address). Settings change `login`, `guess` and `admin`. */
export type AccountKind =
  | 'login'
  | 'guess'
  | 'shortCode'
  | 'admin'
  | 'keySetCheck'
  | 'impersonation'
  | 'oauthUnasked'
  | DeviceKind

/** Approvals of a tool's sign-in: wrong codes of a session and of an account, and how often the tool asks. */
type DeviceKind = 'deviceCode' | 'deviceCodes' | 'devicePoll'

/** A mail that a request asks for. */
export interface RequestedMail {
  purpose: MailPurpose
  /** Canonical. */
  address: string
  /** null for every client that is no known device of the account. */
  known: KnownAsker | null
  /** The client's address; null when it cannot be known. */
  ip: string | null
}

/** The decision of a limit on one request. */
export interface LimitVerdict {
  allowed: boolean
  /** The window that the headers describe. */
  limit: Limit
  /** How many more requests fit into this window. */
  remaining: number
  /** Seconds until the window ends, or, after a refusal, until a try can succeed again. At least 1. */
  resetSeconds: number
}

/**
 * Counts requests and tries. Each decision is one atomic step of the store and at most one write; a refusal writes nothing, and is
 * remembered in memory where only time ends it. It rejects when it cannot count, and then the request must not continue (OWASP
 * ASVS 5.0, 16.5.3).
 */
export interface Limiter {
  /** Counts a request of that client address (IPv6: of its /64). null: limits are off. */
  request(kind: LimitKind, ip: string): Promise<LimitVerdict | null>

  /**
   * Counts a request with a credential that is known to be valid, beside others of the same address: as many as of one address.
   * null: limits are off.
   */
  known(kind: LimitKind, credential: string): Promise<LimitVerdict | null>

  /** The refusal of `request` as far as this process remembers it, without the store. null: none. Counts nothing. */
  refusedRequest(kind: LimitKind, ip: string): LimitVerdict | null

  /**
   * Counts a try at that account before its outcome is known: of any number of concurrent tries, no more than the limit pass.
   * null: limits are off.
   */
  account(kind: AccountKind, subject: string): Promise<LimitVerdict | null>

  /**
   * Counts a mail before it is written: by a known device alone; for an account that asks, by the account first, then by the
   * address for all such accounts together; for every other client by its network first, then by the address for all networks
   * together. A refused mail counts nowhere.
   *
   * @returns null when it may be sent, or when limits are off; else the seconds until one may be
   */
  mail(mail: RequestedMail): Promise<number | null>

  /**
   * Counts a security notice before it is sent, apart for each kind and address. Each notice counts once: a later attempt to
   * send it is always `send`. So is every notice while limits are off.
   */
  notice(notice: CountedNotice): Promise<NoticeVerdict>

  /** After a successful try: forgets the failures of these. */
  forget(kind: AccountKind, subjects: readonly string[]): Promise<void>

  /**
   * Counts a guess at the second factor of that account, by a client that is no known device of it.
   *
   * @returns null when it may be judged, or when limits are off; else the seconds until one may be
   */
  factor(userId: string): Promise<number | null>

  /** After a success: forgets the guesses of `factor`. */
  forgetFactor(userId: string): Promise<void>

  /**
   * Opens a new count of `factor` after a proof of the mailbox. All counts together take no more than one further count, so
   * a person who reads the mailbox gains no more guesses by another proof.
   */
  reopenFactor(userId: string): Promise<void>
}
