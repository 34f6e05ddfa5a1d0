import { listSessions, revokeSession, revokeSessions } from '../../flows/session/sessions.js'
import { empty, json } from '../../http/problem.js'
import { defineRoute } from '../../http/route.js'
import { toSessionEntry } from '../../model/session.js'
import { accountDone } from '../account-form.js'
import { sessionsSchema } from './sessions-schema.js'

export const listSessionsRoute = defineRoute({
  method: 'GET',
  path: '/sessions',
  limit: 'other',
  body: null,
  summary: 'Lists the live sessions of the signed-in user.',
  signedIn: true,
  answers: { 200: sessionsSchema },
  async handle({ ports, session }) {
    const { userId, sessionId } = (await session()).principal
    const sessions = await listSessions(ports, userId)
    return json(200, {
      sessions: sessions.map(toSessionEntry).map(({ id, device, ip, createdAt, lastSeenAt, actor }) => {
        return { id, device, ip, createdAt, lastSeenAt, actor, current: id === sessionId }
      }),
    })
  },
})

export const revokeSessionRoute = defineRoute({
  method: 'DELETE',
  path: '/sessions/:id',
  limit: 'other',
  body: null,
  page: '/account',
  section: 'sessions',
  signedIn: true,
  summary: 'Ends one session of the signed-in user.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle(context) {
    const { ports, session, params, form } = context
    const { principal, visitor } = await session()
    await revokeSession(ports, { userId: principal.userId, sessionId: params.id ?? '', visitor })
    return form ? accountDone(context, 'sessions', 'session_revoked') : empty(204)
  },
})

export const revokeSessionsRoute = defineRoute({
  method: 'DELETE',
  path: '/sessions',
  limit: 'other',
  body: null,
  page: '/account',
  section: 'sessions',
  signedIn: true,
  summary: 'Ends all other sessions of the signed-in user.',
  answers: { 204: null },
  async handle(context) {
    const { ports, session, form } = context
    const { principal, visitor } = await session()
    await revokeSessions(ports, { userId: principal.userId, exceptId: principal.sessionId, visitor })
    return form ? accountDone(context, 'sessions', 'sessions_revoked') : empty(204)
  },
})
