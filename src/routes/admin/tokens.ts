import { z } from 'zod'
import { createApiToken, listApiTokens, removeApiToken, rotateApiToken } from '../../flows/control/api-tokens.js'
import { empty, json } from '../../http/problem.js'
import { time } from '../answer-schemas.js'
import { defineControlRoute } from './control-route.js'
import { durationField, listField, optionalText, pageSchema, paging, pagingQuery } from './fields.js'
import { showToken } from './pages/tokens.js'

const entry = {
  id: z.string(),
  name: z.string(),
  access: z.enum(['READ', 'READWRITE']),
  cidrs: z.array(z.string()).describe('Networks that it is accepted from; empty: all.'),
  createdAt: time('When it was created.'),
  expiresAt: time('When it ends.').nullable(),
  lastUsedAt: time('When it was last used, a few seconds late.').nullable(),
  replacedBy: z.string().nullable().describe('The id of the token that replaced it.'),
}
const entrySchema = z.object(entry).describe('An API token, without its text.')
const createdSchema = z
  .object({ ...entry, token: z.string().describe('The token itself. Later requests do not show it again.') })
  .describe('A new API token.')
const expiresAt = optionalText.describe('When it ends, ISO 8601. Default: never.')

export const listTokensRoute = defineControlRoute({
  method: 'GET',
  path: '/tokens',
  body: null,
  home: 'space',
  who: 'admin',
  command: 'tokens',
  summary: 'Lists the API tokens, newest first.',
  query: pagingQuery,
  answers: { 200: pageSchema(entrySchema) },
  handle: async ({ ports, request }) => json(200, await listApiTokens(ports, paging(request))),
})

export const createTokenRoute = defineControlRoute({
  method: 'POST',
  path: '/tokens',
  body: z.strictObject({
    name: z.string().describe('One line of at most 100 characters.'),
    access: z.enum(['READ', 'READWRITE']).optional().describe('Default: READWRITE.'),
    expiresAt,
    cidrs: listField.optional().describe('Networks that it is accepted from. Default: all.'),
  }),
  form: { page: '/tokens', section: 'create', keeps: ['name', 'access', 'expiresAt', 'cidrs'], ownAnswer: true },
  home: 'space',
  who: 'admin',
  recent: true,
  command: 'add-token',
  summary: 'Creates an API token. Only this response contains it.',
  answers: { 201: createdSchema },
  async handle(context, { cidrs, ...token }) {
    const { ports, admin, asPage } = context
    const networks = cidrs === undefined || cidrs.length === 0 ? {} : { cidrs }
    const created = await createApiToken(ports, { token: { ...token, ...networks }, visitor: admin.visitor })
    return asPage ? showToken(context, created) : json(201, created)
  },
})

export const removeTokenRoute = defineControlRoute({
  method: 'DELETE',
  path: '/tokens/:id',
  body: null,
  form: { page: '/tokens', section: 'tokens', done: 'token_removed' },
  home: 'space',
  who: 'admin',
  command: 'remove-token',
  summary: 'Ends an API token.',
  answers: { 204: null },
  errors: ['not_found'],
  async handle({ ports, params, admin }) {
    await removeApiToken(ports, { id: params.id ?? '', visitor: admin.visitor })
    return empty(204)
  },
})

export const rotateTokenRoute = defineControlRoute({
  method: 'POST',
  path: '/tokens/:id/rotate',
  body: z.strictObject({
    overlap: durationField.optional().describe('How long the former token stays valid, up to 7d. Default: 0s.'),
    expiresAt,
  }),
  form: { page: '/tokens', section: 'tokens', ownAnswer: true },
  home: 'space',
  who: 'admin',
  recent: true,
  command: 'rotate-token',
  summary: 'Replaces an API token. Only this response contains the new one.',
  answers: { 201: createdSchema },
  errors: ['not_found'],
  async handle(context, options) {
    const { ports, params, admin, asPage } = context
    const created = await rotateApiToken(ports, { id: params.id ?? '', options, visitor: admin.visitor })
    return asPage ? showToken(context, created) : json(201, created)
  },
})
