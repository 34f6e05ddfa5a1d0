import { z } from 'zod'
import { confirmField, flagField, listField } from './fields.js'
import { defineOperations } from './operation.js'

const collectionSchema = z
  .object({
    name: z.string(),
    count: z.number().describe('How many documents it holds.'),
    bytes: z.number().describe('Of all its documents.'),
    indexes: z.array(
      z.object({
        field: z.string(),
        isUnique: z.boolean(),
        state: z.enum(['building', 'ready']).describe('`building`: no query reads it yet.'),
      }),
    ),
  })
  .describe('A collection of a space.')

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

const path = '/collections/:c/indexes'

const fields = listField.describe('Fields, or paths with dots. Each gets an index of its own.')

export const collections = defineOperations({
  list: {
    method: 'GET',
    path: '/collections',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'query',
    adminToken: 'query',
    summary: 'Lists the collections of a space by name.',
    answers: { 200: z.array(collectionSchema) },
    errors: ['space_not_found'],
  },
  query: {
    method: 'POST',
    path: '/collections/:c/query',
    body: querySchema,
    home: 'space',
    who: 'admin',
    command: 'query',
    adminToken: 'query',
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
  },
  createIndexes: {
    method: 'POST',
    path,
    body: z.strictObject({
      fields,
      unique: flagField.optional().describe('No two documents may have the same value. Default: false.'),
    }),
    home: 'space',
    who: 'admin',
    command: 'createindex',
    adminToken: 'createindex',
    summary: 'Builds indexes of a collection, and answers with how far they are.',
    answers: { 200: 'lines' },
    errors: ['space_not_found', 'not_found', 'space_busy', 'index_exists', 'quota_exceeded', 'query_invalid'],
  },
  removeIndexes: {
    method: 'DELETE',
    path,
    body: z.strictObject({ fields, confirm: confirmField.describe('The fields, with commas between them.') }),
    home: 'space',
    who: 'admin',
    confirm: true,
    command: 'removeindex',
    adminToken: 'removeindex',
    summary: 'Removes indexes of a collection. The documents stay.',
    answers: { 204: null },
    errors: ['space_not_found', 'not_found', 'query_invalid'],
  },
  import: {
    method: 'POST',
    path: '/collections/:c/import',
    body: null,
    home: 'space',
    who: 'admin',
    command: 'import',
    adminToken: 'import',
    summary: 'Imports JSON lines, and answers with how far it is, then with the lines that were refused.',
    query: {
      dryrun: '`true`: every line is checked, and nothing is written.',
      upsert: '`true`: documents that exist are replaced.',
    },
    answers: { 200: 'lines' },
    errors: ['space_not_found', 'not_found', 'space_busy', 'quota_exceeded', 'query_invalid'],
  },
})
