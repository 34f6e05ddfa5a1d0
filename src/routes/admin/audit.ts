import { audit } from '../../contract/audit.js'
import { exportAudit, listAudit } from '../../flows/control/read-audit.js'
import { noteAuditRead, verifyAudit } from '../../flows/control/watch-audit.js'
import type { HttpRequest } from '../../http/message.js'
import { json, jsonLines } from '../../http/problem.js'
import { type AuditFilter, auditEventNames } from '../../model/audit-event.js'
import { defineControlRoute } from './control-route.js'
import { paging, queryChoice, queryFields } from './fields.js'
import { showVerdict } from './pages/audit.js'

export const listAuditRoute = defineControlRoute({
  ...audit.list,
  async handle({ ports, request, admin }) {
    const page = await listAudit(ports, filterOf(request))
    await noteAuditRead(ports, admin.visitor)
    return json(200, page)
  },
})

export const exportAuditRoute = defineControlRoute({
  ...audit.export,
  async handle({ ports, request, admin }) {
    const { items, nextCursor } = await exportAudit(ports, filterOf(request))
    await noteAuditRead(ports, admin.visitor)
    return jsonLines(items, nextCursor === null ? {} : { 'x-next-cursor': nextCursor })
  },
})

export const verifyAuditRoute = defineControlRoute({
  ...audit.verify,
  form: { page: '/audit', section: 'verify', ownAnswer: true },
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
