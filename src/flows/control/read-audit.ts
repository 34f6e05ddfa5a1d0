import type { Page } from '../../model/account.js'
import { type AuditEntry, type AuditFilter, toAuditEntry } from '../../model/audit-event.js'
import type { Ports } from '../../ports.js'
import { malformedCursor, requireLimit } from '../steps/paging.js'

/**
 * One page of the audit log, the newest first. What is written meanwhile moves no later page.
 *
 * @throws {AuthError} `invalid_request` for a limit or cursor that cannot be
 */
export async function listAudit(ports: Pick<Ports, 'audit'>, filter: AuditFilter): Promise<Page<AuditEntry>> {
  const { limit: asked, cursor: after, actor, ...rest } = filter
  const limit = requireLimit(asked)
  if (after !== undefined && !/^[\w-]{1,64}$/.test(after)) throw malformedCursor()

  // One more than asked for tells whether there is another page.
  const events = await ports.audit.list({
    ...rest,
    ...(actor !== undefined && { actorId: actor }),
    ...(after !== undefined && { after }),
    limit: limit + 1,
  })
  const page = events.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toAuditEntry), nextCursor: last && events.length > limit ? last.id : null }
}
