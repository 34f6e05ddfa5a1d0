import type { Kysely, Selectable } from 'kysely'
import type { SessionsTable, UsersTable } from '../rows.js'
import { toSession } from '../session-rows.js'
import type { Rotation, SessionState } from '../sessions.js'
import { toUser } from '../user-rows.js'
import type { Flavour } from './flavour.js'
import type { Tables } from './schema.js'
import { isEnabled } from './user-rows.js'

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

/** What `Sessions.rotate` writes, on all conditions but the one on the user. */
function raising(
  flavour: Flavour,
  db: Kysely<Tables>,
  { sessionId, userId, mode, counter, issuedAt, expiresAt, provenForMs, now }: Rotation,
) {
  return db
    .updateTable('latchkey_sessions')
    .set((eb) => ({
      counter: counter + 1,
      proven_at_ms: null,
      refresh_issued_at: issuedAt,
      refresh_expires_at: eb
        .case()
        .when('expires_at', '<', expiresAt)
        .then(eb.ref('expires_at'))
        .else(eb.val(expiresAt))
        .end(),
    }))
    .where('latchkey_sessions.id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('mode', '=', mode)
    .where('counter', '=', counter)
    .where('expires_at', '>', now)
    .where('refresh_expires_at', '>', now)
    .where((eb) => eb.or([eb('counter', '=', 0), eb('proven_at_ms', '<=', flavour.storeNowMs(-provenForMs))]))
}

/** Whether the counter has risen. */
export async function raise(flavour: Flavour, db: Kysely<Tables>, rotation: Rotation): Promise<boolean> {
  const { numUpdatedRows } = await raising(flavour, db, rotation)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('latchkey_users')
          .select('latchkey_users.id')
          .whereRef('latchkey_users.id', '=', 'latchkey_sessions.user_id')
          .where(isEnabled(rotation.now)),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The same, and the new state with it, where one statement can do both. */
export async function raiseToState(
  flavour: Flavour,
  db: Kysely<Tables>,
  rotation: Rotation,
): Promise<SessionState | null> {
  const row = await raising(flavour, db, rotation)
    .from('latchkey_users')
    .whereRef('latchkey_users.id', '=', 'latchkey_sessions.user_id')
    .where(isEnabled(rotation.now))
    .returningAll('latchkey_sessions')
    .returning(userColumns)
    .returning(flavour.storeNowMs().as('store_now_ms'))
    .executeTakeFirst()
  return row ? toState(row) : null
}

type StateRow = Selectable<SessionsTable> &
  Omit<Selectable<UsersTable>, 'id' | 'created_at'> & { user_created_at: number; store_now_ms: number }

function toState(row: StateRow): SessionState {
  return {
    session: toSession(row),
    user: toUser({ ...row, id: row.user_id, created_at: row.user_created_at }),
    storeNowMs: Number(row.store_now_ms),
  }
}
