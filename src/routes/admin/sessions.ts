import { sessions } from '../../contract/sessions.js'
import { findSessions } from '../../flows/control/find-sessions.js'
import { endUserSessions, revokeSession } from '../../flows/session/sessions.js'
import { empty, json } from '../../http/problem.js'
import { defineControlRoute } from './control-route.js'
import { paging } from './fields.js'

export const listAllSessionsRoute = defineControlRoute({
  ...sessions.list,
  handle: async ({ ports, request }) => json(200, await findSessions(ports, paging(request))),
})

export const endSessionRoute = defineControlRoute({
  ...sessions.end,
  form: { page: '/sessions', section: 'sessions', done: 'session_ended' },
  async handle({ ports, params, admin }) {
    await revokeSession(ports, { userId: null, sessionId: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const endUserSessionsRoute = defineControlRoute({
  ...sessions.endAllOfUser,
  form: { page: '/users/:id', section: 'sessions', done: 'sessions_ended' },
  async handle({ ports, params, admin }) {
    await endUserSessions(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const endUserSessionRoute = defineControlRoute({
  ...sessions.endOfUser,
  form: { page: '/users/:id', section: 'sessions', done: 'session_ended' },
  async handle({ ports, params, admin }) {
    await revokeSession(ports, { userId: params.id ?? '', sessionId: params.sid ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
