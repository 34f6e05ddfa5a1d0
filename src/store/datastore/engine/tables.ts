import { applicationScope } from '../../../model/scope.js'
import { factorColumns, factorIndexes } from '../../factor-columns.js'
import type {
  AccessEntriesTable,
  ApiTokensTable,
  AuditHeadTable,
  AuditTable,
  BackupCodesTable,
  ChangesTable,
  CountersTable,
  DevicesTable,
  IdentitiesTable,
  InstallationTable,
  KeyIdsTable,
  KeySetsTable,
  OneTimeTokensTable,
  OutboxTable,
  PasskeysTable,
  SessionsTable,
  UsersTable,
} from '../../rows.js'

/** A collection of flat documents: the columns of the row, and the field `key`, by which one is known. */
export interface Table<R extends object> {
  collection: string
  /** Of a row, unique in the collection. */
  keyOf(row: R): string
  /** Fields that are asked for; each gets an index of its own where the platform has them. */
  indexes: readonly (keyof R & string)[]
  /** Columns that may be null, in case a platform drops fields that are. */
  nullable: readonly (keyof R & string)[]
  /** Written after everything else of a step. */
  last?: true
}

const byId = ({ id }: { id: string }): string => id

export const users: Table<UsersTable> = {
  collection: 'latchkey_users',
  keyOf: byId,
  indexes: ['email_canonical', 'created_at', ...factorIndexes],
  nullable: [
    ...(['verified_by', 'name', 'password_hash', 'disabled_at', 'disabled_until', 'disabled_reason'] as const),
    ...(['must_reset', ...factorColumns, 'passkey_handle', 'last_login_at'] as const),
  ],
}

export const identities: Table<IdentitiesTable> = {
  collection: 'latchkey_identities',
  keyOf: identityKey,
  indexes: ['user_id'],
  nullable: [],
}

/** No provider has a blank in its name. */
export function identityKey({ provider, subject }: { provider: string; subject: string }): string {
  return `${provider} ${subject}`
}

export const passkeys: Table<PasskeysTable> = {
  collection: 'latchkey_passkeys',
  keyOf: passkeyKey,
  indexes: ['user_id'],
  nullable: ['suspended_at', 'last_used_at'],
}

/** No host has a blank in its name. */
export function passkeyKey({ rp_id, credential_hash }: Pick<PasskeysTable, 'rp_id' | 'credential_hash'>): string {
  return `${rp_id} ${credential_hash}`
}

export const sessions: Table<SessionsTable> = {
  collection: 'latchkey_sessions',
  keyOf: byId,
  indexes: ['user_id', 'created_at', 'refresh_expires_at', 'actor_user_id'],
  nullable: ['proven_at_ms', 'ip', 'user_agent', 'actor_user_id', 'actor_session_id'],
}

export const oneTimeTokens: Table<OneTimeTokensTable> = {
  collection: 'latchkey_one_time_tokens',
  keyOf: byId,
  indexes: ['token_hash', 'handle_hash', 'subject', 'user_id', 'email', 'expires_at'],
  nullable: ['user_id', 'code_hash', 'handle_hash', 'payload'],
}

export const devices: Table<DevicesTable> = {
  collection: 'latchkey_devices',
  keyOf: byId,
  indexes: ['token_hash', 'user_id', 'expires_at'],
  nullable: [],
}

export const backupCodes: Table<BackupCodesTable> = {
  collection: 'latchkey_backup_codes',
  keyOf: byId,
  indexes: ['user_id'],
  nullable: [],
}

export const apiTokens: Table<ApiTokensTable> = {
  collection: 'latchkey_api_tokens',
  keyOf: byId,
  indexes: ['token_hash', 'created_at', 'expires_at'],
  nullable: ['scope', 'expires_at', 'last_used_at', 'replaced_by'],
}

export const counters: Table<CountersTable> = {
  collection: 'latchkey_counters',
  keyOf: byId,
  indexes: ['expires_at'],
  nullable: [],
}

export const outbox: Table<OutboxTable> = {
  collection: 'latchkey_outbox',
  keyOf: byId,
  indexes: ['next_attempt_at', 'created_at', 'set_aside'],
  nullable: ['lease_id', 'lease_until', 'last_reason'],
}

export const audit: Table<AuditTable> = {
  collection: 'latchkey_audit',
  keyOf: byId,
  indexes: ['seq', 'user_id', 'event', 'actor_id'],
  nullable: ['user_id', 'session_id', 'ip', 'user_agent', 'actor', 'actor_id'],
}

/** One row. */
export const auditHead: Table<AuditHeadTable> = {
  collection: 'latchkey_audit_head',
  keyOf: () => onlyRow,
  indexes: [],
  nullable: [],
}

export const changes: Table<ChangesTable> = {
  collection: 'latchkey_changes',
  keyOf: byId,
  indexes: ['at_ms', 'matters_until'],
  nullable: ['version'],
  last: true,
}

/** One row. */
export const installation: Table<InstallationTable> = {
  collection: 'latchkey_installation',
  keyOf: () => onlyRow,
  indexes: [],
  nullable: ['hash_name', 'jwks_url'],
}

export const accessEntries: Table<AccessEntriesTable> = {
  collection: 'latchkey_access_entries',
  keyOf: entryKey,
  indexes: [],
  nullable: ['scope'],
}

/** Of the application the network alone, as earlier releases know it. */
function entryKey({ scope, network }: AccessEntriesTable): string {
  return scope === null || scope === applicationScope ? network : `${scope} ${network}`
}

/** Of spaces only: that of the application stays in `installation`. */
export const keySets: Table<KeySetsTable> = {
  collection: 'latchkey_key_sets',
  keyOf: ({ scope }) => scope,
  indexes: [],
  nullable: ['issuer', 'audience', 'algorithms', 'exclusive'],
}

export const keyIds: Table<KeyIdsTable> = {
  collection: 'latchkey_key_ids',
  keyOf: ({ kid }) => kid,
  indexes: ['first_used_at'],
  nullable: [],
}

/** The key of a collection's one row. */
export const onlyRow = 'only'

/** Every collection, for the indexes; each is asked by `key`, too. */
export const indexedFields: readonly { collection: string; fields: readonly string[] }[] = [
  users,
  identities,
  passkeys,
  sessions,
  oneTimeTokens,
  devices,
  backupCodes,
  apiTokens,
  counters,
  outbox,
  audit,
  auditHead,
  changes,
  installation,
  accessEntries,
  keySets,
  keyIds,
].map(({ collection, indexes }) => ({ collection, fields: ['key', ...indexes] }))
