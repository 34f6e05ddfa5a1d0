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

export { toNumber } from '../../rows.js'
export type { ApiTokensTable, AuditHeadTable, CountersTable, OneTimeTokensTable, OutboxTable, UsersTable }

/** The tables as Kysely sees them; `migrations/` makes them. */
export interface Tables {
  latchkey_users: UsersTable
  latchkey_identities: IdentitiesTable
  latchkey_passkeys: PasskeysTable
  latchkey_sessions: SessionsTable
  latchkey_one_time_tokens: OneTimeTokensTable
  latchkey_devices: DevicesTable
  latchkey_backup_codes: BackupCodesTable
  latchkey_api_tokens: ApiTokensTable
  latchkey_counters: CountersTable
  latchkey_outbox: OutboxTable
  latchkey_audit: AuditTable
  latchkey_audit_head: AuditHeadTable
  latchkey_changes: ChangesTable
  latchkey_installation: InstallationTable
  latchkey_access_entries: AccessEntriesTable
  latchkey_key_ids: KeyIdsTable
  latchkey_key_sets: KeySetsTable
}
