import { z } from 'zod'
import { dropMail, readMailQueue, retryMail } from '../../flows/control/read-mail-queue.js'
import { empty, json } from '../../http/problem.js'
import { time } from '../answer-schemas.js'
import { defineControlRoute } from './control-route.js'
import { pageSchema, paging, pagingQuery, queryChoice } from './fields.js'

const states = ['waiting', 'set_aside'] as const
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

export const listMailRoute = defineControlRoute({
  method: 'GET',
  path: '/mail',
  body: null,
  who: 'admin',
  command: 'mail',
  summary: 'Lists the mails that wait or were set aside, newest first.',
  query: { state: '`waiting` or `set_aside`. Default: both.', ...pagingQuery },
  answers: { 200: pageSchema(mailSchema) },
  async handle({ ports, request }) {
    const state = queryChoice(request, 'state', states)
    return json(200, await readMailQueue(ports, { ...paging(request), ...(state !== undefined && { state }) }))
  },
})

export const retryMailRoute = defineControlRoute({
  method: 'POST',
  path: '/mail/:id/retry',
  body: null,
  form: { page: '/mail', section: 'mail', done: 'mail_retried' },
  who: 'admin',
  command: 'mail retry',
  summary: 'Sends a mail again now.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await retryMail(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const dropMailRoute = defineControlRoute({
  method: 'DELETE',
  path: '/mail/:id',
  body: null,
  form: { page: '/mail', section: 'mail', done: 'mail_dropped' },
  who: 'admin',
  recent: true,
  command: 'mail drop',
  summary: 'Deletes a mail unsent.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await dropMail(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})
