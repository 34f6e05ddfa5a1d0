import { z } from 'zod'
import { findSessions } from '../../flows/control/find-sessions.js'
import { endUserSessions, revokeSession } from '../../flows/session/sessions.js'
import { empty, json } from '../../http/problem.js'
import { time } from '../answer-schemas.js'
import { defineControlRoute } from './control-route.js'
import { pageSchema, paging, pagingQuery } from './fields.js'

export const sessionEntry = {
  id: z.string(),
  userId: z.string(),
  device: z.string().describe('A short description such as Firefox on Linux.'),
  ip: z.string().nullable(),
  createdAt: time('When the user signed in.'),
  lastSeenAt: time('When it was last refreshed.'),
  expiresAt: time('When it ends unless it is refreshed.'),
  actor: z.object({ userId: z.string() }).nullable().describe('The administrator who impersonates the user in it.'),
}
const foundSessionSchema = z
  .looseObject({ ...sessionEntry, email: z.string() })
  .describe('A session, with the address of its user.')

export const listAllSessionsRoute = defineControlRoute({
  method: 'GET',
  path: '/sessions',
  body: null,
  who: 'admin',
  command: 'sessions',
  summary: 'Lists the live sessions of all users, newest first.',
  query: pagingQuery,
  answers: { 200: pageSchema(foundSessionSchema) },
  handle: async ({ ports, request }) => json(200, await findSessions(ports, paging(request))),
})

export const endSessionRoute = defineControlRoute({
  method: 'DELETE',
  path: '/sessions/:id',
  body: null,
  form: { page: '/sessions', section: 'sessions', done: 'session_ended' },
  who: 'admin',
  command: 'sessions end',
  summary: 'Ends a session.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await revokeSession(ports, { userId: null, sessionId: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const endUserSessionsRoute = defineControlRoute({
  method: 'DELETE',
  path: '/users/:id/sessions',
  body: null,
  form: { page: '/users/:id', section: 'sessions', done: 'sessions_ended' },
  who: 'admin',
  command: 'users end-sessions',
  summary: 'Ends all sessions of a user.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await endUserSessions(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const endUserSessionRoute = defineControlRoute({
  method: 'DELETE',
  path: '/users/:id/sessions/:sid',
  body: null,
  form: { page: '/users/:id', section: 'sessions', done: 'session_ended' },
  who: 'admin',
  summary: 'Ends one session of a user.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await revokeSession(ports, { userId: params.id ?? '', sessionId: params.sid ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
