import type { Selectable } from 'kysely'
import { factorColumns } from '../../factor-columns.js'
import type { SessionsTable } from '../../rows.js'
import { toSession } from '../../session-rows.js'
import type { SessionState } from '../../sessions.js'
import { toUser } from '../../user-rows.js'
import type { UsersTable } from './schema.js'

/** The columns of the user that are part of a session's state. */
export const stateColumns = [
  'latchkey_users.email',
  'latchkey_users.email_canonical',
  'latchkey_users.email_verified',
  'latchkey_users.verified_by',
  'latchkey_users.name',
  'latchkey_users.password_hash',
  'latchkey_users.roles',
  'latchkey_users.fields',
  'latchkey_users.version',
  'latchkey_users.disabled_at',
  'latchkey_users.disabled_until',
  'latchkey_users.disabled_reason',
  'latchkey_users.must_reset',
  ...factorColumns.map((column) => `latchkey_users.${column}` as const),
  'latchkey_users.identities',
  'latchkey_users.created_at as user_created_at',
  'latchkey_users.last_login_at',
] as const

export type StateRow = Selectable<SessionsTable> &
  Omit<Selectable<UsersTable>, 'id' | 'created_at' | 'passkey_handle'> & {
    user_created_at: number
    store_now_ms: number
  }

export function toState(row: StateRow): SessionState {
  return {
    session: toSession(row),
    user: toUser({ ...row, id: row.user_id, created_at: row.user_created_at }),
    storeNowMs: Number(row.store_now_ms),
  }
}
