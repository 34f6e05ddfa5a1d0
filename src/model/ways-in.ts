import { type Factor, kindOf } from './factors/kinds.js'
import type { UserRecord } from './user.js'

/** What a user signs in with and can remove from the account. */
export type WayIn = { kind: 'password' } | { kind: 'identity'; provider: string } | { kind: 'factor'; factor: Factor }

type Account = Pick<UserRecord, 'passwordHash' | 'identities' | 'factors'>

/**
 * Whether that can be removed and the user can still sign in: the last way in stays, anything else may go. Codes and
 * links by mail do not count, because a mailbox can be lost and an application can turn them off.
 */
export function mayRemove(user: Account, what: WayIn): boolean {
  const ways = waysIn(user)
  const left = ways.filter((way) => !isSame(way, what))
  return left.length > 0 || left.length === ways.length
}

function waysIn({ passwordHash, identities, factors }: Account): WayIn[] {
  return [
    ...(passwordHash === null ? [] : [{ kind: 'password' } as const]),
    ...identities.map(({ provider }) => ({ kind: 'identity', provider }) as const),
    ...factors.filter((factor) => kindOf(factor).signsIn).map((factor) => ({ kind: 'factor', factor }) as const),
  ]
}

function isSame(one: WayIn, other: WayIn): boolean {
  if (one.kind === 'identity') return other.kind === 'identity' && other.provider === one.provider
  if (one.kind === 'factor') return other.kind === 'factor' && other.factor === one.factor
  return other.kind === one.kind
}
