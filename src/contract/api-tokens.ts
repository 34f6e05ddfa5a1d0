import { z } from 'zod'
import { durationField, listField, optionalText, pageSchema, pagingQuery, time } from './fields.js'
import { defineOperations } from './operation.js'
import type { Entry } from './reading.js'

const access = z.enum(['READ', 'READWRITE'])

/** What a token may do: `READ` allows the safe methods GET, HEAD and OPTIONS (RFC 9110 §9.2.1). */
export type ApiTokenAccess = z.output<typeof access>

const entry = {
  id: z.string(),
  name: z.string(),
  access,
  cidrs: z.array(z.string()).describe('Networks that it is accepted from; empty: all.'),
  createdAt: time('When it was created.'),
  expiresAt: time('When it ends.').nullable(),
  lastUsedAt: time('When it was last used, a few seconds late.').nullable(),
  replacedBy: z.string().nullable().describe('The id of the token that replaced it.'),
}

const entrySchema = z.object(entry).describe('An API token, without its text.')

/** An API token as the application's own server-side calls see it. Times are ISO 8601 in UTC. */
export type ApiTokenEntry = Entry<typeof entrySchema>

const createdSchema = z
  .object({ ...entry, token: z.string().describe('The token itself. Later requests do not show it again.') })
  .describe('A new API token.')

/** A new API token. This is the only time that the token itself is shown: a UUID, for the header `x-apikey` or the query parameter `apikey`. */
export type CreatedApiToken = Entry<typeof createdSchema>

const expiresAt = optionalText.describe('When it ends, ISO 8601. Default: never.')

export const apiTokens = defineOperations({
  list: {
    method: 'GET',
    path: '/tokens',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'tokens',
    summary: 'Lists the API tokens, newest first.',
    query: pagingQuery,
    answers: { 200: pageSchema(entrySchema) },
  },
  create: {
    method: 'POST',
    path: '/tokens',
    body: z.strictObject({
      name: z.string().describe('One line of at most 100 characters.'),
      access: access.optional().describe('Default: READWRITE.'),
      expiresAt,
      cidrs: listField.optional().describe('Networks that it is accepted from. Default: all.'),
    }),
    home: 'space',
    who: 'admin',
    recent: true,
    command: 'add-token',
    summary: 'Creates an API token. Only this response contains it.',
    answers: { 201: createdSchema },
  },
  remove: {
    method: 'DELETE',
    path: '/tokens/:id',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'remove-token',
    summary: 'Ends an API token.',
    answers: { 204: null },
    errors: ['not_found'],
  },
  rotate: {
    method: 'POST',
    path: '/tokens/:id/rotate',
    body: z.strictObject({
      overlap: durationField.optional().describe('How long the former token stays valid, up to 7d. Default: 0s.'),
      expiresAt,
    }),
    home: 'space',
    who: 'admin',
    recent: true,
    command: 'rotate-token',
    summary: 'Replaces an API token. Only this response contains the new one.',
    answers: { 201: createdSchema },
    errors: ['not_found'],
  },
})
