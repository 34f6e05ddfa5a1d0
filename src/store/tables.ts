import { applicationScope } from '../model/scope.js'
import { factorColumns, factorIndexes } from './factor-columns.js'
import {
  type AccessEntriesTable,
  type ApiTokensTable,
  type AuditHeadTable,
  type AuditTable,
  type BackupCodesTable,
  type ChangesTable,
  type CountersTable,
  type DevicesTable,
  type IdentitiesTable,
  type InstallationTable,
  type KeyIdsTable,
  type KeySetsTable,
  numberColumns,
  type OneTimeTokensTable,
  type OutboxTable,
  type PasskeysTable,
  type SessionsTable,
  type UsersTable,
} from './rows.js'

/** Rows of one kind: a table of a SQL database, a collection of flat documents in a Datastore. */
export interface Table<R extends object, K extends keyof R = keyof R> {
  name: string
  /** The columns that identify a row. */
  key: readonly (K & string)[]
  /** The key as one text, the field `key` of a document. */
  keyOf(row: Pick<R, K>): string
  /** Fields that are asked for; each gets an index of its own in a Datastore that has them. */
  indexes: readonly (keyof R & string)[]
  /** Columns that may be null, in case a Datastore drops fields that are. */
  nullable: readonly (keyof R & string)[]
  /** Columns that documents of earlier releases lack, and what they stand for there. */
  defaults?: Partial<R>
  /** Columns beside the key that are unique. A row whose key or unique columns another row has is `Taken`. */
  unique?: readonly (readonly (keyof R & string)[])[]
  /** Written after everything else of a step. */
  last?: true
}

const byId = ({ id }: { id: string }): string => id

export const users: Table<UsersTable, 'id'> = {
  name: 'latchkey_users',
  key: ['id'],
  keyOf: byId,
  indexes: ['email_canonical', 'created_at', ...factorIndexes],
  nullable: [
    ...(['verified_by', 'name', 'password_hash', 'disabled_at', 'disabled_until', 'disabled_reason'] as const),
    ...(['must_reset', ...factorColumns, 'passkey_handle', 'last_login_at'] as const),
  ],
  unique: [['email_canonical']],
}

export const identities: Table<IdentitiesTable, 'provider' | 'subject'> = {
  name: 'latchkey_identities',
  key: ['provider', 'subject'],
  keyOf: identityKey,
  indexes: ['user_id'],
  nullable: [],
  unique: [['user_id', 'provider']],
}

/** No provider has a blank in its name. */
function identityKey({ provider, subject }: { provider: string; subject: string }): string {
  return `${provider} ${subject}`
}

export const passkeys: Table<PasskeysTable, 'rp_id' | 'credential_hash'> = {
  name: 'latchkey_passkeys',
  key: ['rp_id', 'credential_hash'],
  keyOf: passkeyKey,
  indexes: ['user_id'],
  nullable: ['suspended_at', 'last_used_at'],
  unique: [],
}

/** No host has a blank in its name. */
function passkeyKey({ rp_id, credential_hash }: Pick<PasskeysTable, 'rp_id' | 'credential_hash'>): string {
  return `${rp_id} ${credential_hash}`
}

export const sessions: Table<SessionsTable, 'id'> = {
  name: 'latchkey_sessions',
  key: ['id'],
  keyOf: byId,
  indexes: ['user_id', 'created_at', 'refresh_expires_at', 'actor_user_id'],
  nullable: ['proven_at_ms', 'ip', 'user_agent', 'actor_user_id', 'actor_session_id'],
}

export const oneTimeTokens: Table<OneTimeTokensTable, 'id'> = {
  name: 'latchkey_one_time_tokens',
  key: ['id'],
  keyOf: byId,
  indexes: ['token_hash', 'handle_hash', 'subject', 'user_id', 'email', 'expires_at'],
  nullable: ['user_id', 'code_hash', 'handle_hash', 'payload'],
}

export const devices: Table<DevicesTable, 'id'> = {
  name: 'latchkey_devices',
  key: ['id'],
  keyOf: byId,
  indexes: ['token_hash', 'user_id', 'expires_at'],
  nullable: [],
}

export const backupCodes: Table<BackupCodesTable, 'id'> = {
  name: 'latchkey_backup_codes',
  key: ['id'],
  keyOf: byId,
  indexes: ['user_id'],
  nullable: [],
}

export const apiTokens: Table<ApiTokensTable, 'id'> = {
  name: 'latchkey_api_tokens',
  key: ['id'],
  keyOf: byId,
  indexes: ['token_hash', 'created_at', 'expires_at'],
  nullable: ['scope', 'expires_at', 'last_used_at', 'replaced_by'],
  defaults: { scope: applicationScope },
}

export const counters: Table<CountersTable, 'id'> = {
  name: 'latchkey_counters',
  key: ['id'],
  keyOf: byId,
  indexes: ['expires_at'],
  nullable: [],
}

export const outbox: Table<OutboxTable, 'id'> = {
  name: 'latchkey_outbox',
  key: ['id'],
  keyOf: byId,
  indexes: ['next_attempt_at', 'created_at', 'set_aside'],
  nullable: ['lease_id', 'lease_until', 'last_reason'],
}

export const audit: Table<AuditTable, 'id'> = {
  name: 'latchkey_audit',
  key: ['id'],
  keyOf: byId,
  indexes: ['seq', 'user_id', 'event', 'actor_id'],
  nullable: ['user_id', 'session_id', 'ip', 'user_agent', 'actor', 'actor_id'],
}

/** One row. */
export const auditHead: Table<AuditHeadTable, 'slot'> = {
  name: 'latchkey_audit_head',
  key: ['slot'],
  keyOf: () => 'only',
  indexes: [],
  nullable: [],
}

export const changes: Table<ChangesTable, 'id'> = {
  name: 'latchkey_changes',
  key: ['id'],
  keyOf: byId,
  indexes: ['at_ms', 'matters_until'],
  nullable: ['version'],
  last: true,
}

/** One row. */
export const installation: Table<InstallationTable, 'slot'> = {
  name: 'latchkey_installation',
  key: ['slot'],
  keyOf: () => 'only',
  indexes: [],
  nullable: ['hash_name', 'jwks_url'],
}

export const accessEntries: Table<AccessEntriesTable, 'scope' | 'network'> = {
  name: 'latchkey_access_entries',
  key: ['scope', 'network'],
  keyOf: entryKey,
  indexes: [],
  nullable: ['scope'],
  defaults: { scope: applicationScope },
}

/** Of the application the network alone, as earlier releases know it. */
function entryKey({ scope, network }: Pick<AccessEntriesTable, 'scope' | 'network'>): string {
  return scope === applicationScope ? network : `${scope} ${network}`
}

/** Of spaces only: that of the application stays in `installation`. */
export const keySets: Table<KeySetsTable, 'scope'> = {
  name: 'latchkey_key_sets',
  key: ['scope'],
  keyOf: ({ scope }) => scope,
  indexes: [],
  nullable: ['issuer', 'audience', 'algorithms', 'exclusive'],
}

export const keyIds: Table<KeyIdsTable, 'kid'> = {
  name: 'latchkey_key_ids',
  key: ['kid'],
  keyOf: ({ kid }) => kid,
  indexes: ['first_used_at'],
  nullable: [],
}

/** The key of a table's one row. */
export const onlyRow = { slot: 1 }

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
].map(({ name, indexes }) => ({ collection: name, fields: ['key', ...indexes] }))

const numbers: ReadonlySet<string> = new Set(numberColumns)

/** Boundary: only this store writes these rows. Columns of a newer release stay in the row. */
export function rowOf<R extends object>(values: Readonly<Record<string, unknown>>): R {
  const row = Object.create(Object.prototype)
  for (const [column, value] of Object.entries(values)) {
    row[column] = (value ?? null) !== null && numbers.has(column) ? Number(value) : value
  }
  return row
}
