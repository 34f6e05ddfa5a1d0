import { z } from 'zod'
import { pageSchema, pagingQuery, time } from './fields.js'
import { defineOperations } from './operation.js'

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

export const sessions = defineOperations({
  list: {
    method: 'GET',
    path: '/sessions',
    body: null,
    who: 'admin',
    command: 'sessions',
    summary: 'Lists the live sessions of all users, newest first.',
    query: pagingQuery,
    answers: { 200: pageSchema(foundSessionSchema) },
  },
  end: {
    method: 'DELETE',
    path: '/sessions/:id',
    body: null,
    who: 'admin',
    command: 'sessions end',
    summary: 'Ends a session.',
    answers: { 204: null },
    errors: ['not_found'],
  },
  endAllOfUser: {
    method: 'DELETE',
    path: '/users/:id/sessions',
    body: null,
    who: 'admin',
    command: 'users end-sessions',
    summary: 'Ends all sessions of a user.',
    answers: { 204: null },
    errors: ['not_found'],
  },
  endOfUser: {
    method: 'DELETE',
    path: '/users/:id/sessions/:sid',
    body: null,
    who: 'admin',
    summary: 'Ends one session of a user.',
    answers: { 204: null },
    errors: ['not_found'],
  },
})
