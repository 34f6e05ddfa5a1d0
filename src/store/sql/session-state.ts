import type { Kysely } from 'kysely'
import type { SessionState } from '../sessions.js'
import type { Flavour } from './engine/flavour.js'
import type { Tables } from './engine/schema.js'
import { stateColumns, toState } from './engine/session-rows.js'

/** The session, its user and the store's clock in one statement, so that they belong together. */
export async function readState(flavour: Flavour, db: Kysely<Tables>, id: string): Promise<SessionState | null> {
  const row = await db
    .selectFrom('latchkey_sessions')
    .innerJoin('latchkey_users', 'latchkey_users.id', 'latchkey_sessions.user_id')
    .selectAll('latchkey_sessions')
    .select(stateColumns)
    .select(flavour.storeNowMs().as('store_now_ms'))
    .where('latchkey_sessions.id', '=', id)
    .executeTakeFirst()
  return row ? toState(row) : null
}
