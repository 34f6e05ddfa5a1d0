import type { OneTimePurpose } from '../model/one-time-token.js'

/** What an account loses with a change, beside the columns of its own row. */
export interface AccountLosses {
  sessions?: true
  devices?: true
  backupCodes?: true
  identities?: true
  tokens?: DroppedTokens
}

/** Which one-time tokens of the account go. */
export type DroppedTokens = 'all' | 'all_but_undos' | readonly OneTimePurpose[]

/** Everything that signs the user in, may do so later, or marks a browser as known. Undos of an address change stay. */
export const everyHold: AccountLosses = { sessions: true, devices: true, tokens: 'all_but_undos' }

/** Backup codes and pending enrolments go with the second factor. */
export const lossesWithFactor: AccountLosses = { backupCodes: true, tokens: ['two_factor_enrolment'] }

/** A user who signs in knows the password, or needs none: the links that were mailed to reset it go. */
export const lossesWithSignIn: AccountLosses = { tokens: ['password_reset'] }

/** The account's other confirmations go with the one that is used. */
export const lossesWithVerification: AccountLosses = { tokens: ['email_verification'] }

export const lossesWithDeletion: AccountLosses = {
  sessions: true,
  devices: true,
  backupCodes: true,
  identities: true,
  tokens: 'all',
}

/**
 * Whether a token of that purpose goes. An undo of an address change stays unless it is named: an attacker who has taken
 * the account over can reset its password, and must not get rid of the undo by that.
 */
export function isDropped(dropped: DroppedTokens, purpose: OneTimePurpose): boolean {
  if (dropped === 'all') return true
  return dropped === 'all_but_undos' ? purpose !== 'email_undo' : dropped.includes(purpose)
}
