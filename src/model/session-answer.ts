import type { User } from './user.js'

/** What every route that tells of a session answers with. Times are ISO 8601 in UTC. */
export interface SessionAnswer {
  user: User
  session: { id: string; expiresAt: string }
}
