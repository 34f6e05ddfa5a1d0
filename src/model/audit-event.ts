import type { Actor } from './actor.js'

/** A recorded security event: who, what, when, from where, with which outcome (ASVS 5.0, 16.2.1). */
export interface AuditEvent {
  id: string
  /** Unix milliseconds. */
  atMs: number
  event: AuditEventName
  outcome: 'success' | 'failure'
  /** Who did it; null for a request without a credential. */
  actor: Actor | null
  /** The account that the event is about. */
  userId: string | null
  sessionId: string | null
  ip: string | null
  userAgent: string | null
  /** Short, redacted facts; never a secret, token, code or address. */
  detail: Readonly<Record<string, string | number | boolean>>
}

/** An event as the application's own server-side calls see it. */
export interface AuditEntry extends Omit<AuditEvent, 'atMs'> {
  /** ISO 8601 in UTC. */
  at: string
}

/** What `verify` found. */
export interface AuditVerdict {
  ok: boolean
  /** Id of the first event that does not fit. Null when all fit, and when every event was removed from a log that had some. */
  brokenAt: string | null
}

/** Which events of the stored log a list has. */
export interface EventFilter {
  userId?: string
  event?: string
  /** Of a user or an admin token that acted. */
  actorId?: string
  /** Unix milliseconds, inclusive. */
  fromMs?: number
  /** Unix milliseconds, exclusive. */
  toMs?: number
  after?: string
  limit: number
}

/** The input of `auth.audit.list`. */
export interface AuditFilter {
  userId?: string
  event?: AuditEventName
  /** The id of a user or an admin token: what they did, to whichever account. */
  actor?: string
  /** Events of this time and later: a date such as `2026-01-31` (UTC), or a time such as `2026-01-31T12:00:00Z`. */
  from?: Date | string
  /** Events before this time. With `from` or `to`, events are ordered by their time. */
  to?: Date | string
  /** How many, 1 to 200. Default: 50. */
  limit?: number
  /** The `nextCursor` of the page before. */
  cursor?: string
}

export function toAuditEntry({ atMs, ...event }: AuditEvent): AuditEntry {
  return { ...event, at: new Date(atMs).toISOString() }
}

/** In the order of their rooms. */
export const auditEventNames = [
  'registration_requested',
  'account_created',
  'email_verified',
  'verification_requested',
  'otp_requested',
  'login',
  'logout',
  'session_revoked',
  'sessions_revoked',
  'refresh_reissued',
  'refresh_token_reuse',
  'profile_changed',
  'password_reset_requested',
  'password_reset',
  'password_changed',
  'email_change_requested',
  'email_changed',
  'email_restored',
  'identity_linked',
  'identity_unlinked',
  'two_factor_asked',
  'two_factor_enabled',
  'two_factor_disabled',
  'backup_codes_replaced',
  'passkey_added',
  'passkey_renamed',
  'passkey_removed',
  'passkey_counter',
  'reauthenticated',
  'account_updated',
  'account_disabled',
  'account_enabled',
  'account_deletion_requested',
  'account_deleted',
  'users_exported',
  'impersonation_started',
  'impersonation_stopped',
  'api_token_created',
  'api_token_removed',
  'api_token_rotated',
  'access_changed',
  'right_granted',
  'right_changed',
  'right_removed',
  'team_created',
  'team_changed',
  'team_removed',
  'team_member_added',
  'team_member_removed',
  'admin_token_created',
  'admin_token_removed',
  'admin_token_refused',
  'audit_read',
  'audit_verified',
  'mail_retried',
  'mail_dropped',
  'breach_check_unavailable',
  'space_created',
  'space_removed',
  'space_crashed',
  'keys_rotated',
  'released',
  'rolled_back',
  'undeployed',
  'env_set',
  'env_removed',
  'space_taken_over',
  'data_written',
  'data_imported',
  'index_created',
  'index_removed',
  'data_exported',
  'backed_up',
  'restored',
  'device_asked',
  'device_approved',
  'device_denied',
] as const

export type AuditEventName = (typeof auditEventNames)[number]
