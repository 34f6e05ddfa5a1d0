import { z } from 'zod'
import { exportAudit, listAudit } from '../../flows/control/read-audit.js'
import { noteAuditRead, verifyAudit } from '../../flows/control/watch-audit.js'
import type { HttpRequest } from '../../http/message.js'
import { json, jsonLines } from '../../http/problem.js'
import { type AuditFilter, auditEventNames } from '../../model/audit-event.js'
import { time } from '../answer-schemas.js'
import { defineControlRoute } from './control-route.js'
import { pageSchema, paging, pagingQuery, queryChoice, queryFields } from './fields.js'
import { showVerdict } from './pages/audit.js'

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

export const listAuditRoute = defineControlRoute({
  method: 'GET',
  path: '/audit',
  body: null,
  who: 'admin',
  command: 'audit',
  summary: 'Lists the events of the audit log, newest first.',
  query: filterQuery,
  answers: { 200: pageSchema(auditEntrySchema) },
  async handle({ ports, request, admin }) {
    const page = await listAudit(ports, filterOf(request))
    await noteAuditRead(ports, admin.visitor)
    return json(200, page)
  },
})

export const exportAuditRoute = defineControlRoute({
  method: 'GET',
  path: '/audit.jsonl',
  body: null,
  who: 'admin',
  command: 'audit export',
  summary: 'Exports up to 10,000 events, one JSON object a line. X-Next-Cursor has the cursor of the next ones.',
  query: filterQuery,
  answers: { 200: 'lines' },
  async handle({ ports, request, admin }) {
    const { items, nextCursor } = await exportAudit(ports, filterOf(request))
    await noteAuditRead(ports, admin.visitor)
    return jsonLines(items, nextCursor === null ? {} : { 'x-next-cursor': nextCursor })
  },
})

export const verifyAuditRoute = defineControlRoute({
  method: 'POST',
  path: '/audit/verify',
  body: null,
  form: { page: '/audit', section: 'verify', ownAnswer: true },
  who: 'admin',
  command: 'audit verify',
  summary: 'Verifies the whole audit log.',
  answers: { 200: z.object({ ok: z.boolean(), brokenAt: z.string().nullable() }) },
  async handle(context) {
    const verdict = await verifyAudit(context.ports, { visitor: context.admin.visitor })
    return context.asPage ? showVerdict(context, verdict) : json(200, verdict)
  },
})

function filterOf(request: Pick<HttpRequest, 'query'>): AuditFilter {
  const event = queryChoice(request, 'event', auditEventNames)
  return {
    ...queryFields(request, ['userId', 'actor', 'from', 'to']),
    ...paging(request),
    ...(event !== undefined && { event }),
  }
}
