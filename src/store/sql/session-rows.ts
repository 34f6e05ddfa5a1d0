import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Session } from '../../model/session.js'
import type { SessionState } from '../sessions.js'
import type { Flavour } from './flavour.js'
import { readJson, type SessionsTable, type Tables, toNumber } from './schema.js'
import type { Unit } from './steps.js'
import { toUser } from './user-rows.js'

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

export function toSessionRow(session: Session, unit: Unit): Insertable<SessionsTable> {
  return {
    id: session.id,
    ordinal: unit.ordinal(),
    user_id: session.userId,
    mode: session.mode,
    counter: session.counter,
    proven_at_ms: session.provenAtMs,
    refresh_issued_at: session.refreshIssuedAt,
    refresh_expires_at: session.refreshExpiresAt,
    amr: JSON.stringify(session.amr),
    auth_time: session.authTime,
    created_at: session.createdAt,
    expires_at: session.expiresAt,
    last_seen_at: session.lastSeenAt,
    ip: session.ip,
    user_agent: session.userAgent,
  }
}

export function toSession(row: Selectable<SessionsTable>): Session {
  return {
    id: row.id,
    userId: row.user_id,
    mode: row.mode,
    counter: Number(row.counter),
    provenAtMs: toNumber(row.proven_at_ms),
    refreshIssuedAt: Number(row.refresh_issued_at),
    refreshExpiresAt: Number(row.refresh_expires_at),
    amr: readJson(row.amr),
    authTime: Number(row.auth_time),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    lastSeenAt: Number(row.last_seen_at),
    ip: row.ip,
    userAgent: row.user_agent,
  }
}
