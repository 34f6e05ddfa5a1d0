/** The client that a password is hashed for. The queue serves sources one after the other. */
export interface HashSource {
  /** The client's network, or its known device; null: our own computations, which share no bound with clients. */
  key: string | null
  /** A known device of the account. Such sources have places of their own, and are every other one that is served. */
  known: boolean
}
