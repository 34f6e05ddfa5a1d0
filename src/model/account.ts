import { isoTime } from '../lib/iso-time.js'
import { toUser, type User, type UserRecord } from './user.js'

/** A user as the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export interface Account extends User {
  /** Since when the account is disabled; null when it is not. In force until `disabledUntil`. */
  disabledAt: string | null
  /** null with `disabledAt` set: until enabled again. */
  disabledUntil: string | null
}

/** What `auth.users.create` takes. */
export interface NewAccount {
  email: string
  /** Held to the password rules. Without one the user comes in by resetting it. */
  password?: string
  name?: string | null
  roles?: readonly string[]
  /**
   * Whether the address is known to be the user's. Default: false; then the first proof of it by a mailed link throws
   * away name and password, because somebody else may have chosen them.
   */
  emailVerified?: boolean
}

/** What `auth.users.update` takes; what is left out stays. */
export interface AccountChanges {
  name?: string | null
  /** Tokens with the former roles are dead at once. */
  roles?: readonly string[]
  /** Takes the second factor away, for a user who has lost it; only the user can turn one on. */
  twoFactor?: false
}

/** What `auth.users.list` takes. */
export interface AccountFilter {
  /** A part of the address or the name; ASCII letters match in either case. */
  query?: string
  /** How many, 1 to 200. Default: 50. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** For the next page; null on the last. */
  nextCursor: string | null
}

export function toAccount(record: UserRecord): Account {
  return {
    ...toUser(record),
    disabledAt: orNull(record.disabledAt),
    disabledUntil: orNull(record.disabledUntil),
  }
}

function orNull(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(seconds)
}
