import { deviceLabel } from '../lib/device-label.js'
import { isoTime } from '../lib/iso-time.js'

export const sessionModes = ['cookie', 'token'] as const

/** How a session's tokens travel; fixed at sign-in. */
export type SessionMode = (typeof sessionModes)[number]

/** A sign-in and its refresh lineage. Times are Unix seconds unless the name says otherwise. */
export interface Session {
  id: string
  userId: string
  mode: SessionMode
  /** The rotation n that the newest refresh token carries as `ctr`. */
  counter: number
  /** When a verifier first saw a token of rotation n, in milliseconds of the store's clock; null until then. */
  provenAtMs: number | null
  /** `iat` of refresh token n. With `refreshExpiresAt` it makes the same token again, byte for byte. */
  refreshIssuedAt: number
  /** `exp` of refresh token n. */
  refreshExpiresAt: number
  /** How the user proved who they are (RFC 8176): `pwd`, `otp`, `mfa`, … */
  amr: readonly string[]
  authTime: number
  createdAt: number
  /** Absolute end; refreshing does not extend it. */
  expiresAt: number
  lastSeenAt: number
  ip: string | null
  userAgent: string | null
  /** The administrator who impersonates the user, and the session that they came from; null otherwise. */
  actor: { userId: string; sessionId: string } | null
}

/** A session in which an administrator acts for the user. */
export type ImpersonatedSession = Session & { actor: NonNullable<Session['actor']> }

/** The session, if an administrator acts for the user in it. */
export function asImpersonated(session: Session): ImpersonatedSession | null {
  return session.actor && { ...session, actor: session.actor }
}

/** The proof of an impersonated session: none of the user's (`imp` is ours, beside RFC 8176). */
export const impersonatedAmr: readonly string[] = Object.freeze(['imp'])

/** A session as its user and the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export interface SessionEntry {
  id: string
  userId: string
  /** A short description such as `Firefox on Linux`. */
  device: string
  ip: string | null
  createdAt: string
  lastSeenAt: string
  /** When it ends unless it is refreshed. */
  expiresAt: string
  /** The administrator who impersonates the user in it; null otherwise. */
  actor: { userId: string } | null
}

export function toSessionEntry(session: Session): SessionEntry {
  return {
    id: session.id,
    userId: session.userId,
    device: deviceLabel(session.userAgent),
    ip: session.ip,
    createdAt: isoTime(session.createdAt),
    lastSeenAt: isoTime(session.lastSeenAt),
    expiresAt: isoTime(Math.min(session.refreshExpiresAt, session.expiresAt)),
    actor: session.actor && { userId: session.actor.userId },
  }
}

/** A session in the list of all users' sessions. */
export interface FoundSession extends SessionEntry {
  /** Its user's address, as typed. */
  email: string
}

export function toFoundSession({ session, email }: { session: Session; email: string }): FoundSession {
  return { ...toSessionEntry(session), email }
}
