import type { HashKind } from '../model/hash-kind.js'

/** What is known of the password hashes in the store, so that a process knows its floor before it has met one of each. */
export interface HashKinds {
  /** The slowest that was ever noted. */
  slowest(): Promise<HashKind | null>

  /** Notes a kind if it is slower than what is noted. Of concurrent calls the slowest stays. */
  note(kind: HashKind): Promise<void>
}
