import { pagingQuery } from '../../../contract/fields.js'
import { AuthError } from '../../../errors.js'
import { listAudit } from '../../../flows/control/read-audit.js'
import { noteAuditRead } from '../../../flows/control/watch-audit.js'
import type { HttpResponse } from '../../../http/message.js'
import type { Page } from '../../../model/account.js'
import { type AuditEntry, type AuditVerdict, auditEventNames } from '../../../model/audit-event.js'
import { controlPath } from '../../../model/control-path.js'
import { paging, queryText } from '../fields.js'
import { type AdminContext, defineAdminPage, listed, showAdminPage } from './admin-page.js'
import { shownEvents } from './events.js'

const filters = ['event', 'userId', 'actor', 'from', 'to'] as const
const place = { path: '/audit', at: 'audit', template: 'audit', refreshes: true } as const

export const auditPage = defineAdminPage({
  ...place,
  summary: 'Shows the audit log by account, event, actor and time; verifies and exports it.',
  query: {
    event: 'Events of this name.',
    userId: 'Events about this account.',
    actor: 'Events that this user caused.',
    from: 'Events from this time on.',
    to: 'Events before this time.',
    ...pagingQuery,
  },
  values: (context) => auditValues(context, null),
})

async function auditValues(context: AdminContext, verdict: AuditVerdict | null) {
  const { ports, request, admin, authPath } = context
  const filter = Object.fromEntries(filters.map((name) => [name, queryText(request, name) ?? '']))
  const { page, wrongFilter } = await readFiltered(context)
  await noteAuditRead(ports, admin.visitor)
  const [last] = await ports.audit.list({ event: 'audit_verified', limit: 1 })
  const { items, pager } = listed(context, page)
  const asked = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''))
  return {
    filter,
    wrongFilter,
    events: await shownEvents(ports, items),
    pager,
    verdict,
    // Older pages do not change, and the address of a verification is no page.
    refreshSeconds: verdict === null && queryText(request, 'cursor') === undefined ? 10 : 0,
    verifiedAt: last ? new Date(last.atMs).toISOString() : '',
    verifiedOk: last?.outcome === 'success',
    exportUrl: `${authPath}${controlPath}/audit.jsonl${asked.size === 0 ? '' : `?${asked}`}`,
  }
}

const nothing: Page<AuditEntry> = { items: [], nextCursor: null }

/** A filter that cannot be read is said above an empty list; the form keeps it. */
async function readFiltered({ ports, request }: AdminContext) {
  const event = auditEventNames.find((name) => name === queryText(request, 'event'))
  if (event === undefined && queryText(request, 'event') !== undefined) {
    return { page: nothing, wrongFilter: 'admin.wrong.event' }
  }
  const conditions = ['userId', 'actor', 'from', 'to'].flatMap((name) => {
    const value = queryText(request, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  try {
    const filter = { ...Object.fromEntries(conditions), ...paging(request), ...(event && { event }) }
    return { page: await listAudit(ports, filter), wrongFilter: '' }
  } catch (error) {
    if (error instanceof AuthError && error.code === 'invalid_request') {
      return { page: nothing, wrongFilter: 'admin.wrong.filter' }
    }
    throw error
  }
}

/** Shows the result of the verification as the answer to its POST. */
export async function showVerdict(context: AdminContext, verdict: AuditVerdict): Promise<HttpResponse> {
  return showAdminPage(context, place, await auditValues(context, verdict))
}
