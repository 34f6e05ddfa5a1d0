import type { ApiTokenAccess } from '../contract/api-tokens.js'
import type { VerifiedBy } from '../model/admin-role.js'
import type { AuditEvent, AuditEventName } from '../model/audit-event.js'
import type { Change } from '../model/change.js'
import type { OneTimePurpose } from '../model/one-time-token.js'
import type { SessionMode } from '../model/session.js'
import type { FactorColumns } from './factor-columns.js'

/**
 * Rows as every store keeps them, so that reading and writing is alike for each database.
 *
 * One shape for all: ids are text, JSON is text, a boolean is 0 or 1, a time is a number. Drivers of PostgreSQL may return a
 * bigint as text, so every number that is read goes through `Number()`.
 */
export type Flag = 0 | 1

/** '' for the application, otherwise the id of a space. */
interface Scoped {
  scope: string
}

/** Seconds are too coarse to order rows. `ordinal` rises with every row that a process writes. */
interface Ordered {
  ordinal: number
}

export interface UsersTable extends FactorColumns {
  id: string
  email: string
  email_canonical: string
  email_verified: Flag
  /** Null in rows from before migration 0003, and for an address whose proof we do not know. */
  verified_by: VerifiedBy | null
  name: string | null
  password_hash: string | null
  roles: string
  fields: string
  version: number
  disabled_at: number | null
  disabled_until: number | null
  disabled_reason: string | null
  /** Null in rows from before migration 0003: 0. */
  must_reset: Flag | null
  /** What authenticators keep as the user of their passkeys; null until the first. It tells neither id nor address. */
  passkey_handle: string | null
  /** A summary of the user's rows in `latchkey_identities`, so that reading a user needs no join. */
  identities: string
  created_at: number
  last_login_at: number | null
}

export interface IdentitiesTable {
  provider: string
  subject: string
  user_id: string
  linked_at: number
}

export interface PasskeysTable {
  id: string
  user_id: string
  rp_id: string
  /** SHA-256 of the credential's id, which may be longer than an index allows. */
  credential_hash: string
  credential_id: string
  public_key: string
  algorithm: number
  sign_count: number
  backup_eligible: Flag
  backed_up: Flag
  transports: string
  aaguid: string
  name: string
  user_handle: string
  suspended_at: number | null
  created_at: number
  last_used_at: number | null
}

export interface SessionsTable extends Ordered {
  id: string
  user_id: string
  mode: SessionMode
  counter: number
  proven_at_ms: number | null
  refresh_issued_at: number
  refresh_expires_at: number
  amr: string
  auth_time: number
  created_at: number
  expires_at: number
  last_seen_at: number
  ip: string | null
  user_agent: string | null
  /** The administrator who impersonates the user, and their session; both null otherwise. */
  actor_user_id: string | null
  actor_session_id: string | null
}

export interface OneTimeTokensTable extends Ordered {
  id: string
  purpose: OneTimePurpose
  subject: string
  user_id: string | null
  email: string
  token_hash: string
  code_hash: string | null
  handle_hash: string | null
  payload: string | null
  tries: number
  created_at: number
  expires_at: number
}

export interface DevicesTable extends Ordered {
  id: string
  user_id: string
  token_hash: string
  created_at: number
  expires_at: number
}

export interface BackupCodesTable {
  id: string
  user_id: string
  code_hash: string
}

export interface ApiTokensTable extends Scoped {
  id: string
  token_hash: string
  name: string
  access: ApiTokenAccess
  cidrs: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
  replaced_by: string | null
}

/** Without a long window, its two columns are 0. */
export interface CountersTable {
  id: string
  hits: number
  ends_at: number
  long_hits: number
  long_ends_at: number
  /** From when on the row has no effect. */
  expires_at: number
}

export interface OutboxTable extends Ordered {
  id: string
  recipient: string
  template: string
  sealed_values: string
  created_at: number
  attempts: number
  next_attempt_at: number
  lease_id: string | null
  lease_until: number | null
  set_aside: Flag
  last_reason: string | null
}

export interface AuditTable {
  id: string
  /** Without gaps, in the order of the commits. */
  seq: number
  at_ms: number
  event: AuditEventName
  outcome: AuditEvent['outcome']
  user_id: string | null
  session_id: string | null
  ip: string | null
  user_agent: string | null
  detail: string
  /** JSON; null for a request without a credential, and in rows from before migration 0002. */
  actor: string | null
  /** A copy of the actor's id, to filter by. */
  actor_id: string | null
  /** Over the event and the hash before it. */
  hash: string
  mac: string
}

/** One row, made by the first migration: the newest event, and the last one that retention removed. */
export interface AuditHeadTable {
  slot: number
  seq: number
  hash: string
  mac: string
  floor_seq: number
  floor_hash: string
  floor_mac: string
}

export interface ChangesTable {
  id: string
  at_ms: number
  kind: Change['kind']
  subject: string
  version: number | null
  matters_until: number
}

/** One row, made by the first migration. */
export interface InstallationTable {
  slot: number
  id: string
  /** The slowest kind of password hash that was noted, and its estimate. */
  hash_name: string | null
  hash_ms: number
  /** Replaces the key set of the application's settings; spaces have rows in `latchkey_key_sets`. */
  jwks_url: string | null
}

/** Each key that has signed access tokens. */
export interface KeyIdsTable {
  kid: string
  first_used_at: number
}

/**
 * The key sets of spaces. That of the application stays in `latchkey_installation`, where earlier releases read and write it.
 * The columns after the URL hold the rules that an application has in its settings; null: the default of the setting.
 */
export interface KeySetsTable {
  scope: string
  url: string
  issuer: string | null
  /** JSON, a list. */
  audience: string | null
  /** JSON, a list. */
  algorithms: string | null
  exclusive: Flag | null
}

/** Networks that were added to the allow-list at run time. */
export interface AccessEntriesTable extends Scoped {
  network: string
  created_at: number
}

/**
 * The columns that hold numbers, each in every table that has it. Drivers of PostgreSQL may return a bigint as text.
 */
export const numberColumns: readonly string[] = [
  ...['algorithm', 'at_ms', 'attempts', 'auth_time', 'backed_up', 'backup_eligible', 'counter'],
  ...['created_at', 'disabled_at', 'disabled_until', 'email_verified', 'ends_at', 'exclusive'],
  ...['expires_at', 'first_used_at', 'floor_seq', 'hash_ms', 'hits', 'last_login_at', 'last_seen_at'],
  ...['last_used_at', 'lease_until', 'linked_at', 'long_ends_at', 'long_hits', 'matters_until'],
  ...['must_reset', 'next_attempt_at', 'ordinal', 'proven_at_ms', 'refresh_expires_at'],
  ...['refresh_issued_at', 'seq', 'set_aside', 'sign_count', 'slot', 'suspended_at', 'totp_at'],
  ...['totp_step', 'tries', 'version'],
]

export function toNumber(value: number | null): number | null {
  return value === null ? null : Number(value)
}

/** Rises with every call, also while the clock stands still or goes back: microseconds of the wall clock, or more. */
export function createOrdinal(now: () => number): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, Math.floor(now()) * 1_000)
    return last
  }
}
