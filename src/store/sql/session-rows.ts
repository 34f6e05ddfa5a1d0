import type { Kysely } from 'kysely'
import { toSession } from '../session-rows.js'
import type { SessionState } from '../sessions.js'
import { toUser } from '../user-rows.js'
import type { StateRow } from './batches.js'
import type { Flavour } from './flavour.js'
import type { Tables } from './schema.js'

/** What a session's state shows of its user, beside the session's own columns. */
const userColumns = [
  'latchkey_users.email',
  'latchkey_users.email_canonical',
  'latchkey_users.email_verified',
  'latchkey_users.name',
  'latchkey_users.password_hash',
  'latchkey_users.roles',
  'latchkey_users.fields',
  'latchkey_users.version',
  'latchkey_users.disabled_at',
  'latchkey_users.disabled_until',
  'latchkey_users.totp_secret',
  'latchkey_users.totp_step',
  'latchkey_users.totp_at',
  'latchkey_users.identities',
  'latchkey_users.created_at as user_created_at',
  'latchkey_users.last_login_at',
] as const

/** The session, its user and the store's clock in one statement, so that they belong together. */
export async function readState(flavour: Flavour, db: Kysely<Tables>, id: string): Promise<SessionState | null> {
  const row = await db
    .selectFrom('latchkey_sessions')
    .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_sessions.user_id')
    .selectAll('latchkey_sessions')
    .select(userColumns)
    .select(flavour.storeNowMs().as('store_now_ms'))
    .where('latchkey_sessions.id', '=', id)
    .executeTakeFirst()
  return row ? toState(row) : null
}

export function toState(row: StateRow): SessionState {
  return {
    session: toSession(row),
    user: toUser({ ...row, id: row.user_id, created_at: row.user_created_at }),
    storeNowMs: Number(row.store_now_ms),
  }
}
