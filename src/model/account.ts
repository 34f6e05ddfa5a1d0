import { isoTime } from '../lib/iso-time.js'
import { toUser, type User, type UserRecord } from './user.js'

/** A user as the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export interface Account extends User {
  /** Since when the account is disabled; null when it is enabled. Holds until `disabledUntil`. */
  disabledAt: string | null
  /** null while `disabledAt` is set: disabled until an administrator enables the account. */
  disabledUntil: string | null
  /** Why, in the words given to `disable`; null when the account is enabled or no reason was given. */
  disabledReason: string | null
}

/** The input of `auth.users.create`. */
export interface NewAccount {
  email: string
  /** Must meet the password rules. Without one, the user sets a password by resetting it. */
  password?: string
  name?: string | null
  roles?: readonly string[]
  /**
   * Whether the address is known to be the user's. Default: false. Then the first confirmation by a mailed link removes
   * name and password, because a stranger may have chosen them.
   */
  emailVerified?: boolean
}

/** The input of `auth.users.update`. Fields that are left out stay as they are. */
export interface AccountChanges {
  name?: string | null
  /** Tokens with the former roles are revoked at once. */
  roles?: readonly string[]
  /** Removes the second factor, for a user who has lost it. Only the user can turn one on. */
  twoFactor?: false
}

export const accountStates = ['active', 'disabled', 'unverified'] as const

/** Every account is in one of these states. `unverified`: enabled, but its address was never confirmed. */
export type AccountState = (typeof accountStates)[number]

/** Which users of the store a list has. */
export interface UserFilter {
  /** Users whose canonical address or name contains it, ASCII letters in either case. */
  query: string | null
  /** The user with this address. */
  email?: string
  /** Users who have verified one of these addresses. */
  verifiedAs?: readonly string[]
  /** Users with this stored role. */
  role?: string
  /** Users who are in that state at that moment (Unix seconds). */
  state?: { is: AccountState; at: number }
  after: { createdAt: number; id: string } | null
  limit: number
}

/** The input of `auth.users.list`. */
export interface AccountFilter {
  /**
   * A part of the address or the name; ASCII letters match in either case. A whole address finds its account alone, if
   * there is one.
   */
  query?: string
  /** Accounts with this role. */
  role?: string
  state?: AccountState
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

/** Whether the account is disabled at that moment (Unix milliseconds). The form of `isDisabled` for ISO times. */
export function isAccountDisabled(
  { disabledAt, disabledUntil }: Pick<Account, 'disabledAt' | 'disabledUntil'>,
  nowMs: number,
): boolean {
  return disabledAt !== null && (disabledUntil === null || Date.parse(disabledUntil) > nowMs)
}

/** @param adminEmails `admin.emails`, canonical */
export function toAccount(record: UserRecord, adminEmails: readonly string[]): Account {
  return {
    ...toUser(record, adminEmails),
    disabledAt: orNull(record.disabledAt),
    disabledUntil: orNull(record.disabledUntil),
    disabledReason: record.disabledAt === null ? null : record.disabledReason,
  }
}

function orNull(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(seconds)
}
