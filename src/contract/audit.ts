import { z } from 'zod'
import { pageSchema, pagingQuery, time } from './fields.js'
import { defineOperations } from './operation.js'

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: time('When it happened.'),
    event: z.string(),
    outcome: z.enum(['success', 'failure']),
    actor: z
      .looseObject({ kind: z.string() })
      .nullable()
      .describe('Who did it; null for a request without a credential.'),
    userId: z.string().nullable().describe('The account that it is about.'),
    sessionId: z.string().nullable(),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  })
  .describe('An event of the audit log.')

const filterQuery = {
  userId: 'Events about this account.',
  event: 'Events of this name.',
  actor: 'Events that this user or admin token caused.',
  from: 'Events from this time on, ISO 8601.',
  to: 'Events before this time, ISO 8601.',
  ...pagingQuery,
}

export const audit = defineOperations({
  list: {
    method: 'GET',
    path: '/audit',
    body: null,
    who: 'admin',
    command: 'audit',
    summary: 'Lists the events of the audit log, newest first.',
    query: filterQuery,
    answers: { 200: pageSchema(auditEntrySchema) },
  },
  export: {
    method: 'GET',
    path: '/audit.jsonl',
    body: null,
    who: 'admin',
    command: 'audit export',
    summary: 'Exports up to 10,000 events, one JSON object a line. X-Next-Cursor has the cursor of the next ones.',
    query: filterQuery,
    answers: { 200: 'lines' },
  },
  verify: {
    method: 'POST',
    path: '/audit/verify',
    body: null,
    who: 'admin',
    command: 'audit verify',
    summary: 'Verifies the whole audit log.',
    answers: { 200: z.object({ ok: z.boolean(), brokenAt: z.string().nullable() }) },
  },
})
