import type { Limit, LimitKind } from '../settings.js'

/** What has a limit per account (a user or an address). */
export type AccountKind = 'login' | 'mail' | 'guess'

/** What a limit said to one request. */
export interface LimitVerdict {
  allowed: boolean
  /** The window that headers tell of. */
  limit: Limit
  /** How many more there may be in this window. */
  remaining: number
  /** Seconds until the window ends, or, of a refused one, until it is worth trying again. At least 1. */
  resetSeconds: number
}

/**
 * Counts requests and tries. Each decision is one atomic step of the store and at most one write; a refused one writes
 * nothing. It rejects when it cannot count, and then nothing may go on (OWASP ASVS 5.0, 16.5.3).
 */
export interface Limiter {
  /** Counts a request of that client address (IPv6: of its /64). null: limits are off. */
  request(kind: LimitKind, ip: string): Promise<LimitVerdict | null>

  /**
   * Counts a try at that account before it is known how it ends: of any number at once, no more than the limit get
   * through. null: limits are off.
   */
  account(kind: AccountKind, subject: string): Promise<LimitVerdict | null>

  /** The try was a success: forgets the failures of these. */
  forget(kind: AccountKind, subjects: readonly string[]): Promise<void>
}
