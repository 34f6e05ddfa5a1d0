import { isoTime } from '../lib/iso-time.js'
import type { Session } from './session.js'
import { toUser, type User, type UserRecord } from './user.js'

/** The administrator who impersonates a user, as answers show them. */
export interface ActorEntry {
  userId: string
  name: string | null
}

/** What every route that tells of a session answers with. Times are ISO 8601 in UTC. */
export interface SessionAnswer {
  user: User
  /** `actor`: the administrator who impersonates the user; null otherwise. */
  session: { id: string; expiresAt: string; actor: ActorEntry | null }
}

/** @param adminEmails `admin.emails`, canonical */
export function toSessionAnswer(
  { user, session, actor }: { user: UserRecord; session: Session; actor: ActorEntry | null },
  adminEmails: readonly string[],
): SessionAnswer {
  const endsAt = Math.min(session.refreshExpiresAt, session.expiresAt)
  return { user: toUser(user, adminEmails), session: { id: session.id, expiresAt: isoTime(endsAt), actor } }
}
