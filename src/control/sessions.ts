import { listSessions, revokeSession, revokeSessions } from '../flows/session/sessions.js'
import { type SessionEntry, toSessionEntry } from '../model/session.js'
import type { Ports } from '../ports.js'
import { applicationVisitor } from './application-visitor.js'
import { missing } from './missing.js'

/** Sign-ins, for the application's own code. */
export interface SessionsApi {
  /** The user's live sessions, newest sign-in first; all of them on one page. */
  list(userId: string): Promise<{ items: SessionEntry[]; nextCursor: null }>
  /** Ends one session everywhere within a second. False when there was none. */
  revoke(sessionId: string): Promise<boolean>
  /** Ends all sessions of that user; returns how many. */
  revokeAll(userId: string): Promise<number>
}

/** `ports` waits for the store to be open. */
export function createSessionsApi(ports: () => Promise<Ports>): SessionsApi {
  const visitor = applicationVisitor
  return {
    async list(userId) {
      const sessions = await listSessions(await ports(), userId)
      return { items: sessions.map(toSessionEntry), nextCursor: null }
    },
    revoke: async (sessionId) =>
      revokeSession(await ports(), { userId: null, sessionId, visitor }).then(() => true, missing),
    revokeAll: async (userId) => revokeSessions(await ports(), { userId, exceptId: null, visitor }),
  }
}
