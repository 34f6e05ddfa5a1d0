import { z } from 'zod'
import { pageSchema, pagingQuery, time } from './fields.js'
import { defineOperations } from './operation.js'

export const states = ['waiting', 'set_aside'] as const

const mailSchema = z
  .object({
    id: z.string(),
    template: z.string(),
    domain: z.string().describe('The domain of the recipient.'),
    state: z.enum(states),
    attempts: z.number().describe('How often its delivery failed.'),
    nextAt: time('When it is due; null once it was set aside.').nullable(),
    lastReason: z.string().nullable(),
  })
  .describe('A mail in the queue, without address and text.')

export const mail = defineOperations({
  list: {
    method: 'GET',
    path: '/mail',
    body: null,
    who: 'admin',
    command: 'mail',
    summary: 'Lists the mails that wait or were set aside, newest first.',
    query: { state: '`waiting` or `set_aside`. Default: both.', ...pagingQuery },
    answers: { 200: pageSchema(mailSchema) },
  },
  retry: {
    method: 'POST',
    path: '/mail/:id/retry',
    body: null,
    who: 'admin',
    command: 'mail retry',
    summary: 'Sends a mail again now.',
    answers: { 204: null },
    errors: ['not_found'],
  },
  drop: {
    method: 'DELETE',
    path: '/mail/:id',
    body: null,
    who: 'admin',
    recent: true,
    command: 'mail drop',
    summary: 'Deletes a mail unsent.',
    answers: { 204: null },
    errors: ['not_found'],
  },
})
