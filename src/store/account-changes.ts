import { type AccountLosses, everyHold, lossesWithFactor } from './account-losses.js'
import { noFactor } from './factor-columns.js'
import type { UsersTable } from './rows.js'
import type { Users } from './users.js'

/** What a change writes into the user's row, and what the account loses with it. The version is the store's to raise. */
export interface AccountChange {
  values: Partial<UsersTable>
  losses: AccountLosses
}

/** The columns that a profile sets; what is not given stays. */
export function profileColumns({ name, fields }: Parameters<Users['updateProfile']>[1]): Partial<UsersTable> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(fields === undefined ? {} : { fields: JSON.stringify(fields) }),
  }
}

/** Without its second factor, the account loses every session, too. */
export function updatedAccount({ roles, twoFactor, ...profile }: Parameters<Users['updateAccount']>[1]): AccountChange {
  const values = { ...profileColumns(profile), ...(roles === undefined ? {} : { roles: JSON.stringify(roles) }) }
  if (twoFactor === undefined) return { values, losses: {} }
  return { values: { ...values, ...noFactor }, losses: { sessions: true, ...lossesWithFactor } }
}

/** Known devices stay: a device alone signs no user in. */
export function disabledAccount({ at, until }: { at: number; until: number | null }): AccountChange {
  return { values: { disabled_at: at, disabled_until: until }, losses: { sessions: true, tokens: 'all_but_undos' } }
}

export const enabledAccount: AccountChange = { values: { disabled_at: null, disabled_until: null }, losses: {} }

/**
 * The first proof of a mailbox verifies the address and removes everything that was written before it: it may come from a
 * stranger who registered the address and waits for its owner (GHSA-qq9h-g4jm-xgf3). Roles stay, as only the application
 * gives them, and so does being disabled.
 */
export const firstProof: AccountChange = {
  values: { email_verified: 1, password_hash: null, name: null, fields: '{}', identities: '[]', ...noFactor },
  losses: { backupCodes: true, identities: true },
}

/** A password that the user changes. The sessions end where the new one starts. */
export function changedPassword(passwordHash: string): AccountChange {
  return { values: { password_hash: passwordHash }, losses: { tokens: ['password_reset', 'email_change'] } }
}

/** A password that the application sets: the known devices may be those of a thief. */
export function replacedPassword(passwordHash: string): AccountChange {
  const { values, losses } = changedPassword(passwordHash)
  return { values, losses: { ...losses, sessions: true, devices: true } }
}

interface Address {
  typed: string
  canonical: string
}

function provedAddress({ typed, canonical }: Address): Partial<UsersTable> {
  return { email: typed, email_canonical: canonical, email_verified: 1 }
}

/** A new address, proved. What was mailed to the former one goes. */
export function changedAddress(address: Address): AccountChange {
  return {
    values: provedAddress(address),
    losses: { tokens: ['email_change', 'email_verification', 'password_reset', 'otp'] },
  }
}

/** The former address again, after a change that a thief may have made: whatever could sign the thief in goes. */
export function restoredAddress(address: Address): AccountChange {
  return { values: provedAddress(address), losses: everyHold }
}
