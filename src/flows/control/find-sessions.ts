import type { Page } from '../../model/account.js'
import { type FoundSession, toFoundSession } from '../../model/session.js'
import type { Ports } from '../../ports.js'
import { type Count, countOf, cursorOf, readCursor, requireLimit } from '../steps/paging.js'

/**
 * One page of the live sessions of all users, newest sign-in first. `revokeSession` ends one of them.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit or cursor
 */
export async function findSessions(
  ports: Pick<Ports, 'sessions' | 'clock'>,
  filter: { limit?: number; cursor?: string },
): Promise<Page<FoundSession>> {
  const limit = requireLimit(filter.limit)
  const after = filter.cursor === undefined ? null : readCursor(filter.cursor)

  // One more than asked for shows whether there is another page.
  const found = await ports.sessions.recent({ after, limit: limit + 1, now: ports.clock.now() })
  const page = found.slice(0, limit)
  const last = page.at(-1)?.session
  return { items: page.map(toFoundSession), nextCursor: last && found.length > limit ? cursorOf(last) : null }
}

/** How many live sessions there are. */
export async function countSessions({ sessions, clock }: Pick<Ports, 'sessions' | 'clock'>): Promise<Count> {
  const now = clock.now()
  return countOf(await sessions.count(now), (limit) => sessions.recent({ after: null, limit, now }))
}

/** The session with that id and its user's address; null when it has ended. */
export async function findSession(ports: Pick<Ports, 'sessions'>, id: string): Promise<FoundSession | null> {
  const state = await ports.sessions.find(id)
  return state && toFoundSession({ session: state.session, email: state.user.email })
}
