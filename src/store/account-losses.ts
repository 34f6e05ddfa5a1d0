import type { AuditEvent } from '../model/audit-event.js'
import type { OneTimePurpose } from '../model/one-time-token.js'
import type { ImpersonatedSession } from '../model/session.js'

/** What an account loses with a change, besides the columns of its own row. */
export interface AccountLosses {
  sessions?: true
  devices?: true
  backupCodes?: true
  identities?: true
  passkeys?: true
  tokens?: DroppedTokens
}

/** Which one-time tokens of the account are dropped. */
export type DroppedTokens = 'all' | 'all_but_undos' | 'all_but_undos_and_deletion' | readonly OneTimePurpose[]

/** Everything that signs the user in, may do so later, or marks a browser as known. Undos of an address change stay. */
export const everyHold: AccountLosses = { sessions: true, devices: true, tokens: 'all_but_undos' }

/** Backup codes and pending enrolments are dropped with the second factor. */
export const lossesWithFactor: AccountLosses = { backupCodes: true, tokens: ['two_factor_enrolment'] }

/** A user who signs in knows the password, or needs none, so mailed reset links are dropped. */
export const lossesWithSignIn: AccountLosses = { tokens: ['password_reset', 'invite'] }

/** The account's other confirmations are dropped with the one that is used. */
export const lossesWithVerification: AccountLosses = { tokens: ['email_verification'] }

export const lossesWithDeletion: AccountLosses = {
  sessions: true,
  devices: true,
  backupCodes: true,
  identities: true,
  passkeys: true,
  tokens: 'all',
}

/** What `all_but_undos_and_deletion` keeps: what an administrator does to an account that waits for its deletion must not end the wait. */
export const keptWithDeletion: readonly OneTimePurpose[] = ['email_undo', 'account_deletion']

/**
 * Whether a token of that purpose is dropped. An undo of an address change stays unless it is named: an attacker who has
 * taken the account over can reset its password, and must not remove the undo that way.
 */
export function isDropped(dropped: DroppedTokens, purpose: OneTimePurpose): boolean {
  if (dropped === 'all') return true
  if (dropped === 'all_but_undos') return purpose !== 'email_undo'
  if (dropped === 'all_but_undos_and_deletion') return !keptWithDeletion.includes(purpose)
  return dropped.includes(purpose)
}

/**
 * The end of an impersonation as a part of the step that `step` records: who ended the session also ended the impersonation.
 * Null when `step` is that event itself.
 */
export function impersonationEnd(
  step: AuditEvent,
  { id: sessionId, userId, createdAt, expiresAt }: ImpersonatedSession,
  id: string,
): AuditEvent | null {
  if (step.event === 'impersonation_stopped') return null
  const endedAt = Math.min(Math.floor(step.atMs / 1000), expiresAt)
  const detail = { reason: 'revoked', seconds: Math.max(0, endedAt - createdAt) }
  return { ...step, id, event: 'impersonation_stopped', outcome: 'success', userId, sessionId, detail }
}
