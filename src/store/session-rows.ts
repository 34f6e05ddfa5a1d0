import { textsIn } from '../lib/json-fields.js'
import { asImpersonated, type ImpersonatedSession, type Session } from '../model/session.js'
import { readColumn } from './json-columns.js'
import { type SessionsTable, toNumber } from './rows.js'

export function toSessionRow(session: Session, unit: { ordinal(): number }): SessionsTable {
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
    actor_user_id: session.actor?.userId ?? null,
    actor_session_id: session.actor?.sessionId ?? null,
  }
}

export function toSession(row: SessionsTable): Session {
  return {
    id: row.id,
    userId: row.user_id,
    mode: row.mode,
    counter: Number(row.counter),
    provenAtMs: toNumber(row.proven_at_ms),
    refreshIssuedAt: Number(row.refresh_issued_at),
    refreshExpiresAt: Number(row.refresh_expires_at),
    amr: readColumn(row, 'amr', textsIn),
    authTime: Number(row.auth_time),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    lastSeenAt: Number(row.last_seen_at),
    ip: row.ip,
    userAgent: row.user_agent,
    actor: toActor(row),
  }
}

/** The row as an impersonated session; no entry for any other session. */
export function toImpersonated(row: SessionsTable): ImpersonatedSession[] {
  const session = asImpersonated(toSession(row))
  return session ? [session] : []
}

function toActor({ actor_user_id: userId, actor_session_id: sessionId }: SessionsTable): Session['actor'] {
  return userId === null || sessionId === null ? null : { userId, sessionId }
}

export function isLive(row: Pick<SessionsTable, 'expires_at' | 'refresh_expires_at'>, now: number): boolean {
  return row.expires_at > now && row.refresh_expires_at > now
}

/** The columns of a session that is over now, also for a process whose clock is behind. Its row stays for a while. */
export function overSince(now: number): Pick<SessionsTable, 'expires_at' | 'refresh_expires_at'> {
  return { expires_at: 0, refresh_expires_at: now }
}

/** A session whose refresh token ended before this moment is forgotten: none of its access tokens is valid at `createdAt`. */
export function forgottenBefore({ createdAt, until }: { createdAt: number; until: number }): number {
  return createdAt - (until - createdAt)
}
