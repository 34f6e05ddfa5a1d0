import { listSessions, revokeSession, revokeSessions } from '../flows/sessions.js'
import { empty, json } from '../http/problem.js'
import { defineRoute } from '../http/route.js'
import { toSessionEntry } from '../model/session.js'

export const listSessionsRoute = defineRoute({
  method: 'GET',
  path: '/sessions',
  limit: 'other',
  body: null,
  summary: 'Lists the live sessions of the signed-in user.',
  async handle({ ports, session }) {
    const { userId, sessionId } = await session()
    const sessions = await listSessions(ports, userId)
    return json(200, {
      sessions: sessions.map(toSessionEntry).map(({ id, device, ip, createdAt, lastSeenAt }) => {
        return { id, device, ip, createdAt, lastSeenAt, current: id === sessionId }
      }),
    })
  },
})

export const revokeSessionRoute = defineRoute({
  method: 'DELETE',
  path: '/sessions/:id',
  limit: 'other',
  body: null,
  summary: 'Ends one session of the signed-in user.',
  async handle({ ports, session, params, visitor }) {
    await revokeSession(ports, { userId: (await session()).userId, sessionId: params.id ?? '', visitor })
    return empty(204)
  },
})

export const revokeSessionsRoute = defineRoute({
  method: 'DELETE',
  path: '/sessions',
  limit: 'other',
  body: null,
  summary: 'Ends all sessions of the signed-in user but this one.',
  async handle({ ports, session, visitor }) {
    const { userId, sessionId } = await session()
    await revokeSessions(ports, { userId, exceptId: sessionId, visitor })
    return empty(204)
  },
})
