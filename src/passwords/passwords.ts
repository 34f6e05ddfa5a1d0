import type { HashFault, HashKind, HashSource } from '../model/imported-account.js'

/** The result of a comparison. */
export interface PasswordCheck {
  matches: boolean
  /** The password matched a hash that is weaker than those that `hash` makes now. */
  outdated: boolean
}

/** Hashing and comparing passwords away from the event loop. Networks share the queue fairly, and known devices have places of their own. */
export interface Passwords {
  /**
   * Makes the text to store. It names scheme, pepper and cost.
   *
   * @throws {AuthError} `busy` when the queue is full; `weak_password` above 256 characters; `invalid_request` for text that
   * is no valid Unicode. Such passwords are never shortened or repaired.
   */
  hash(password: string, source: HashSource): Promise<string>

  /**
   * Compares with a stored hash. With null it compares with a dummy of today's cost and never matches, so that an unknown
   * user takes as long as a known one (OWASP ASVS 5.0, 6.3.8). The same holds for a text that is no hash, and for a password
   * that no account can have. A mismatch takes at least as long as the slowest recent comparison.
   *
   * @throws {AuthError} `busy` when the queue is full
   */
  verify(password: string, stored: string | null, source: HashSource): Promise<PasswordCheck>

  /**
   * Checks the queue before a try is counted: a request that cannot be served is not counted as a try.
   *
   * @throws {AuthError} `busy` when the queue is full
   */
  requireRoom(source: HashSource): void

  /** Waits until a failed sign-in that began at `startedAtMs` (monotonic) has taken as long as the slowest scheme seen. */
  floor(startedAtMs: number): Promise<void>

  /** How many computations wait in the queue. */
  queued(): number

  /** The kind of hash that `hash` makes. */
  readonly kind: HashKind

  /** The kind of a hash, or why no password can match it here. */
  inspect(stored: string): HashKind | HashFault

  /**
   * Announces that hashes of that kind are stored. From then on the minimum delay covers the slowest such kind, even before
   * a user has signed in with one.
   */
  expect(kind: HashKind): void

  /** Lets running work finish, then ends the workers; later calls are `busy`. */
  close(): Promise<void>
}

export type PasswordFault = 'too_short' | 'too_long' | 'breached' | 'common' | 'similar_to_email'

/** Longest password, in code points of its normal form. None is cut (OWASP ASVS 5.0, 6.2.8 and 6.2.9). */
export const longestPassword = 256

/**
 * The one form in which a password is counted and hashed (NIST SP 800-63B-4 §3.1.1.2: NFC), or null if it has no such
 * form: a lone surrogate has no UTF-8, so that all of them would be one password.
 */
export function normalForm(password: string): string | null {
  return /\p{Surrogate}/u.test(password) ? null : password.normalize('NFC')
}

/** Code points, so that an emoji counts once, whatever its encoding. */
export function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** True without normalising anything big: no NFC code point stands for more than 4 of its decomposition, 8 UTF-16 units. */
export function isTooLong(password: string): boolean {
  return password.length > longestPassword * 8 || codePoints(password.normalize('NFC')) > longestPassword
}
