import type { Kysely } from 'kysely'
import { toSession } from '../session-rows.js'
import type { SessionState } from '../sessions.js'
import { toUser } from '../user-rows.js'
import type { Flavour } from './flavour.js'
import type { Tables } from './schema.js'

/** The session, its user and the store's clock in one statement, so that they belong together. */
export async function readState(flavour: Flavour, db: Kysely<Tables>, id: string): Promise<SessionState | null> {
  const row = await db
    .selectFrom('latchkey_sessions as s')
    .innerJoin('latchkey_users as u', 'u.id', 's.user_id')
    .selectAll('s')
    .select([
      'u.email',
      'u.email_canonical',
      'u.email_verified',
      'u.name',
      'u.password_hash',
      'u.roles',
      'u.fields',
      'u.version',
      'u.disabled_at',
      'u.disabled_until',
      'u.totp_secret',
      'u.totp_step',
      'u.totp_at',
      'u.identities',
      'u.created_at as user_created_at',
      'u.last_login_at',
    ])
    .select(flavour.storeNowMs().as('store_now_ms'))
    .where('s.id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  return {
    session: toSession(row),
    user: toUser({ ...row, id: row.user_id, created_at: row.user_created_at }),
    storeNowMs: Number(row.store_now_ms),
  }
}
