import { z } from 'zod'
import type { Route } from '../../../http/route.js'
import { ndjson } from '../../../http/streams/ndjson.js'
import { whileAllowed } from '../../../http/streams/while-allowed.js'
import { defineTokenRoute } from '../../../routes/admin/control-route.js'
import { flagField } from '../../../routes/admin/fields.js'
import type { CollectionPorts } from '../../flows/collections/ports.js'
import { queryCollection } from '../../flows/collections/query.js'
import { changesDocuments } from '../../flows/collections/read-query.js'
import { answerDocuments } from '../pages/documents.js'

/** A form sends a text of digits. */
const countField = z.union([
  z.number().int().min(0),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
])

const querySchema = z.strictObject({
  filter: z.unknown().optional().describe('A filter of MongoDB, or its JSON as a text. Default: every document.'),
  update: z.unknown().optional().describe('Update operators for the documents that match.'),
  replace: z.unknown().optional().describe('The document that replaces those that match. They keep their `_id`.'),
  delete: flagField.optional().describe('Removes the documents that match.'),
  ifVersion: countField.optional().describe('Changes the one document of `_id` in this version only.'),
  sort: z.unknown().optional().describe('Field → 1 or -1.'),
  fields: z.unknown().optional().describe('Field → 1 or 0, or names with commas between them.'),
  limit: countField.optional(),
  offset: countField.optional(),
  count: flagField.optional().describe('Counts, and gives no rows.'),
  useIndex: z.string().max(255).optional().describe('The field of the index to read.'),
  start: z.unknown().optional().describe('With `useIndex`: the least value.'),
  end: z.unknown().optional().describe('With `useIndex`: the greatest value.'),
  reverse: flagField.optional().describe('Descending order, without `sort`.'),
  versions: flagField.optional().describe('Rows are `{ version, document }`.'),
})

export function queryRoute(ports: () => CollectionPorts): Route {
  return defineTokenRoute({
    method: 'POST',
    path: '/collections/:c/query',
    body: querySchema,
    home: 'space',
    who: 'admin',
    needsRecent: changesDocuments,
    command: 'query',
    adminToken: 'query',
    form: { page: '/data/:c', section: 'documents', ownAnswer: true },
    streams: 'out',
    summary: 'Answers with the documents that match, or changes them. A change needs a recent sign-in.',
    answers: { 200: 'lines' },
    errors: [
      'space_not_found',
      'not_found',
      'space_busy',
      'not_current',
      'already_exists',
      'quota_exceeded',
      'query_invalid',
    ],
    async handle(context, sent) {
      const { params, caller, asPage } = context
      if (asPage && caller.kind === 'session') {
        return answerDocuments({ ...context, admin: caller, right: caller.right }, ports(), sent)
      }
      const named = { space: params.space ?? '', collection: params.c ?? '', visitor: caller.visitor }
      return ndjson(context, whileAllowed(await queryCollection(ports(), named, sent), context.still))
    },
  })
}
