/** What a comparison found. */
export interface PasswordCheck {
  matches: boolean
  /** The password matched a hash that is weaker than what `hash` makes now. */
  outdated: boolean
}

/** Hashing and comparing passwords away from the event loop. */
export interface Passwords {
  /** @throws {AuthError} `busy` when the queue is full */
  hash(password: string): Promise<string>

  /**
   * Compares with a stored hash. With null it compares with a dummy of today's cost and never matches, so that an
   * unknown user costs what a known one does (OWASP ASVS 5.0, 6.3.8).
   *
   * @throws {AuthError} `busy` when the queue is full
   */
  verify(password: string, stored: string | null): Promise<PasswordCheck>

  /** Waits until a failed sign-in that began at `startedAtMs` (monotonic) has taken as long as the slowest scheme seen. */
  floor(startedAtMs: number): Promise<void>

  close(): Promise<void>
}

export type PasswordFault = 'too_short' | 'too_long' | 'breached' | 'common' | 'similar_to_email'
