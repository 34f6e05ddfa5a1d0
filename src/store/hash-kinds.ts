import type { HashKind } from '../model/hash-kind.js'

/** The slowest kind of password hash in the store. A process knows its minimum delay before it has met a hash of each kind. */
export interface HashKinds {
  /** The slowest kind that was ever noted. */
  slowest(): Promise<HashKind | null>

  /** Notes a kind if it is slower than the noted one. Of concurrent calls the slowest kind stays. */
  note(kind: HashKind): Promise<void>
}
