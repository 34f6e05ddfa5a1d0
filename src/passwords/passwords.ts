import type { HashFault, HashKind } from '../model/hash-kind.js'

/** What a comparison found. */
export interface PasswordCheck {
  matches: boolean
  /** The password matched a hash that is weaker than what `hash` makes now. */
  outdated: boolean
}

/** Hashing and comparing passwords away from the event loop. */
export interface Passwords {
  /**
   * Makes the text to store; it names scheme, pepper and cost.
   *
   * @throws {AuthError} `busy` when the queue is full; `weak_password` above 256 characters and `invalid_request` for
   * text that is no Unicode, neither of which may be cut or bent into shape
   */
  hash(password: string): Promise<string>

  /**
   * Compares with a stored hash. With null it compares with a dummy of today's cost and never matches, so that an
   * unknown user costs what a known one does (OWASP ASVS 5.0, 6.3.8). So does any text that is no hash, and any password
   * that nobody can have. A mismatch answers only after what the slowest lately took.
   *
   * @throws {AuthError} `busy` when the queue is full
   */
  verify(password: string, stored: string | null): Promise<PasswordCheck>

  /**
   * Asks before a try is counted: whoever cannot be served has tried nothing.
   *
   * @throws {AuthError} `busy` when the queue is full
   */
  requireRoom(): void

  /** Waits until a failed sign-in that began at `startedAtMs` (monotonic) has taken as long as the slowest scheme seen. */
  floor(startedAtMs: number): Promise<void>

  /** How many computations wait for their turn. */
  queued(): number

  /** What `hash` makes. */
  readonly kind: HashKind

  /** What kind of hash a text is, or why nothing would ever match it here. */
  inspect(stored: string): HashKind | HashFault

  /**
   * Says that hashes of that kind are stored: from then on the floor covers the slowest such kind, also before anybody
   * has signed in with one.
   */
  expect(kind: HashKind): void

  /** Lets running work finish, then ends the workers; later calls are `busy`. */
  close(): Promise<void>
}

export type PasswordFault = 'too_short' | 'too_long' | 'breached' | 'common' | 'similar_to_email'
