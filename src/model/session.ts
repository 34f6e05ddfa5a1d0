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
  /** When a verifier first saw a token of n, in milliseconds of the store's clock; null while nobody has. */
  provenAtMs: number | null
  /** `iat` of the refresh token n; with `refreshExpiresAt` it makes that token again byte for byte. */
  refreshIssuedAt: number
  /** `exp` of the refresh token n. */
  refreshExpiresAt: number
  /** How the user proved who they are (RFC 8176): `pwd`, `otp`, `mfa`, … */
  amr: readonly string[]
  authTime: number
  createdAt: number
  /** Absolute end, however often the session is refreshed. */
  expiresAt: number
  lastSeenAt: number
  ip: string | null
  userAgent: string | null
}

/** A session as its user and the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export interface SessionEntry {
  id: string
  userId: string
  /** In our own words: `Firefox on Linux`. */
  device: string
  ip: string | null
  createdAt: string
  lastSeenAt: string
  /** When it ends if nobody refreshes it. */
  expiresAt: string
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
  }
}
