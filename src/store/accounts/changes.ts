import type { VerifiedBy } from '../../model/admin-role.js'
import { hasFactor } from '../../model/factors/kinds.js'
import { isDisabled, type UserRecord } from '../../model/user.js'
import { noFactor, noPasskeys } from '../factor-columns.js'
import type { UsersTable } from '../rows.js'
import type { Disabling, Users } from '../users.js'
import { type AccountLosses, everyHold, lossesWithFactor } from './losses.js'

/** What a change writes into the user's row, and what the account loses with it. The store raises the version. */
export interface AccountChange {
  values: Partial<UsersTable>
  losses: AccountLosses
  /** What to do with the account as the step finds it. `done`: it is so already, so the step writes nothing. */
  judge?(user: UserRecord): 'change' | 'done' | 'refuse'
  /** What the account loses where the step is `done`. */
  lossesIfDone?: AccountLosses
}

/** The columns that a profile sets. Fields that are left out keep their columns. */
export function profileColumns({ name, fields }: Parameters<Users['updateProfile']>[1]): Partial<UsersTable> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
  }
}

/** Without its second factor, the account loses every session, too. An account that has none is refused. */
export function updatedAccount({ roles, twoFactor, ...profile }: Parameters<Users['updateAccount']>[1]): AccountChange {
  const values = { ...profileColumns(profile), ...(roles === undefined ? {} : { roles: JSON.stringify(roles) }) }
  if (twoFactor === undefined) return { values, losses: {} }
  return {
    values: { ...values, ...noFactor },
    losses: { sessions: true, ...lossesWithFactor },
    judge: (user) => (hasFactor(user) ? 'change' : 'refuse'),
  }
}

/**
 * Known devices stay: a device alone signs no user in. An account that waits for its deletion is disabled without an end, so
 * that no account in use is deleted.
 */
export function disabledAccount({ at, until: end, reason }: Disabling, waits: boolean): AccountChange {
  const until = waits ? null : end
  const values = { disabled_at: at, disabled_until: until, disabled_reason: reason }
  return {
    values,
    losses: { sessions: true, tokens: 'all_but_undos_and_deletion' },
    judge(user) {
      const isSo = isDisabled(user, at) && user.disabledUntil === until && user.disabledReason === reason
      return isSo ? 'done' : 'change'
    },
  }
}

const enabled = { disabled_at: null, disabled_until: null, disabled_reason: null } as const

/** Enabling ends the wait for a deletion. @param now Unix seconds */
export function enabledAccount(now: number): AccountChange {
  return {
    values: enabled,
    losses: { tokens: ['account_deletion'] },
    lossesIfDone: { tokens: ['account_deletion'] },
    judge: (user) => (isDisabled(user, now) ? 'change' : 'done'),
  }
}

/**
 * The first proof of a mailbox verifies the address and removes everything that was written before it: it may come from a
 * stranger who registered the address and waits for its owner (GHSA-qq9h-g4jm-xgf3). Roles stay, as only the application
 * gives them, and so does being disabled.
 */
export const firstProof: AccountChange = {
  values: {
    email_verified: 1,
    verified_by: 'mailbox',
    password_hash: null,
    name: null,
    fields: '{}',
    identities: '[]',
    ...noFactor,
    ...noPasskeys,
  },
  losses: { backupCodes: true, identities: true, passkeys: true },
}

/**
 * The first proof of an account that an administrator invited and that has no password: no stranger can have chosen its
 * name, so it stays.
 */
export const invitedProof: AccountChange = {
  values: { email_verified: 1, verified_by: 'mailbox', ...noPasskeys },
  losses: firstProof.losses,
}

/**
 * The proof of an administrator's address that was verified, but not proved to us: by `trustEmail`, by an import from codehooks-auth, or before
 * migration 0003. Everything that signs in without the mailbox goes, passkeys too. A factor that only answers a second step stays: it alone signs no user in.
 */
export const renewedProof: AccountChange = {
  values: { verified_by: 'mailbox', password_hash: null, identities: '[]', ...noPasskeys },
  losses: { identities: true, passkeys: true },
}

/** The same by the owner of the application, who hands the account to an administrator: nothing of a stranger stays. */
export const entrustedProof: AccountChange = {
  values: { ...firstProof.values, verified_by: 'application' },
  losses: firstProof.losses,
}

/** A password that the user changes. The sessions end where the new one starts. */
export function changedPassword(passwordHash: string): AccountChange {
  return { values: { password_hash: passwordHash }, losses: { tokens: ['password_reset', 'invite', 'email_change'] } }
}

/** A password that the application sets: the known devices may be those of a thief. */
export function replacedPassword(passwordHash: string): AccountChange {
  const { values, losses } = changedPassword(passwordHash)
  return { values: { ...values, must_reset: 0 }, losses: { ...losses, sessions: true, devices: true } }
}

/** A password that counts no more until it is reset. What may have been gained with it is removed. */
export const demandedReset: AccountChange = {
  values: { must_reset: 1 },
  losses: { ...everyHold, tokens: 'all_but_undos_and_deletion' },
}

/** The new password of a mailed link. Everything that was gained by the former one is removed. */
export function resetAccount(passwordHash: string): AccountChange {
  return { values: { password_hash: passwordHash, email_verified: 1, must_reset: 0 }, losses: everyHold }
}

/**
 * An account that the owner of the application makes an administrator's. Its address counts as proved. With a password, that
 * one replaces the former. Everything that was gained by a former way in is removed, undos of address changes too: a former
 * owner must not take the account back.
 */
export function entrustedAccount(passwordHash: string | null): AccountChange {
  const password = passwordHash === null ? {} : { password_hash: passwordHash, must_reset: 0 as const }
  return {
    values: { email_verified: 1, verified_by: 'application', ...password },
    losses: { ...everyHold, tokens: 'all' },
  }
}

interface Address {
  typed: string
  canonical: string
}

function verifiedAddress({ typed, canonical }: Address): Partial<UsersTable> {
  return { email: typed, email_canonical: canonical, email_verified: 1 }
}

/** A new, confirmed address. Tokens that were mailed to the former one are dropped. */
export function changedAddress(address: Address, verifiedBy: VerifiedBy | null): AccountChange {
  return {
    values: { ...verifiedAddress(address), verified_by: verifiedBy },
    losses: { tokens: ['email_change', 'email_verification', 'password_reset', 'invite', 'otp'] },
  }
}

/**
 * The former address again, after a change that a thief may have made. Everything that could sign the thief in is dropped but
 * the password, so the address counts as proved again only after a reset or a mailed code.
 */
export function restoredAddress(address: Address): AccountChange {
  return { values: { ...verifiedAddress(address), verified_by: null }, losses: everyHold }
}

const deletionReason = 'deleted by the user; a former address can still take the account back'

/** An account that its user deletes while an undo of a changed address lives: it waits, disabled, and nothing signs in. */
export function waitingAccount(now: number): AccountChange {
  return { values: { disabled_at: now, disabled_until: null, disabled_reason: deletionReason }, losses: everyHold }
}

/** What ends the wait beside its token: the account is enabled again, unless an administrator has disabled it since. */
export function endedWait({ reason }: { reason: string | null }): Partial<UsersTable> {
  return reason === deletionReason ? enabled : {}
}
