import { type Factor, kindOf } from './factors/kinds.js'
import type { UserRecord } from './user.js'

/** What a user signs in with and can remove from the account. */
export type WayIn = { kind: 'password' } | { kind: 'identity'; provider: string } | { kind: 'factor'; factor: Factor }

type Account = Pick<UserRecord, 'passwordHash' | 'identities' | 'factors'>

/**
 * Whether that can be removed and the user can still sign in: the last way in stays, anything else may go. Codes and
 * links by mail do not count, because a mailbox can be lost and an application can turn them off. Of the factors, those of
 * which `signsIn` is true count.
 *
 * What is not on the account may go, because its removal removes nothing: the caller must remove exactly `what`.
 */
export function mayRemove(user: Account, what: WayIn, signsIn: (factor: Factor) => boolean): boolean {
  const ways = waysIn(user, signsIn)
  const isOneOfThem = ways.some((way) => isSame(way, what))
  return !isOneOfThem || ways.some((way) => !isSame(way, what))
}

/** Whether a factor signs in without a password at the site of that RP id; null: passkeys are off. */
export function signsInAt(rpId: string | null): (factor: Factor) => boolean {
  return (factor) => kindOf(factor).signsIn && kindOf(factor).worksAt(factor, rpId)
}

/** Whether the user can sign in without a mail. Of the factors, those of which `signsIn` is true count. */
export function hasWayIn(user: Account, signsIn: (factor: Factor) => boolean): boolean {
  return waysIn(user, signsIn).length > 0
}

function waysIn({ passwordHash, identities, factors }: Account, signsIn: (factor: Factor) => boolean): WayIn[] {
  return [
    ...(passwordHash === null ? [] : [{ kind: 'password' } as const]),
    ...identities.map(({ provider }) => ({ kind: 'identity', provider }) as const),
    ...factors.filter(signsIn).map((factor) => ({ kind: 'factor', factor }) as const),
  ]
}

function isSame(one: WayIn, other: WayIn): boolean {
  if (one.kind === 'identity') return other.kind === 'identity' && other.provider === one.provider
  if (one.kind === 'factor') return other.kind === 'factor' && isSameFactor(one.factor, other.factor)
  return other.kind === one.kind
}

/** Not by reference: a factor of another read of the account is the same factor. */
function isSameFactor(one: Factor, other: Factor): boolean {
  return one.kind === other.kind && one.enabledAt === other.enabledAt && kindOf(one).sameProof(one, other)
}
