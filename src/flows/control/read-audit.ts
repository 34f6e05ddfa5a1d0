import type { Page } from '../../model/account.js'
import {
  type AuditEntry,
  type AuditEvent,
  type AuditFilter,
  type EventFilter,
  toAuditEntry,
} from '../../model/audit-event.js'
import type { Ports } from '../../ports.js'
import { malformedCursor, requireLimit, requireTime } from '../steps/paging.js'

/** How many events an export has at most. */
const largestExport = 10_000

/** How many of them one step of the store reads. */
const readAtOnce = 1_000

type AuditPorts = Pick<Ports, 'audit'>

/**
 * One page of the audit log, newest first. Events that are written meanwhile do not shift later pages.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit, cursor or time
 */
export async function listAudit(ports: AuditPorts, filter: AuditFilter): Promise<Page<AuditEntry>> {
  return readPage(ports, filter, requireLimit(filter.limit))
}

/**
 * Up to 10,000 events of the audit log at once, newest first, and the cursor of the next ones.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit, cursor or time
 */
export async function exportAudit(ports: AuditPorts, filter: AuditFilter): Promise<Page<AuditEntry>> {
  return readPage(ports, filter, requireLimit(filter.limit ?? largestExport, largestExport))
}

async function readPage(ports: AuditPorts, filter: AuditFilter, limit: number): Promise<Page<AuditEntry>> {
  // One more than asked for shows whether there is another page.
  const events = await readEvents(ports, conditionsOf(filter), limit + 1)
  const page = events.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toAuditEntry), nextCursor: last && events.length > limit ? last.id : null }
}

type Conditions = Omit<EventFilter, 'limit'>

function conditionsOf({ limit: _, cursor: after, actor: actorId, from, to, ...rest }: AuditFilter): Conditions {
  if (after !== undefined && !/^[\w-]{1,64}$/.test(after)) throw malformedCursor()
  return {
    ...rest,
    ...(actorId !== undefined && { actorId }),
    ...(from !== undefined && { fromMs: requireTime(from, 'from') }),
    ...(to !== undefined && { toMs: requireTime(to, 'to') }),
    ...(after !== undefined && { after }),
  }
}

async function readEvents({ audit }: AuditPorts, filter: Conditions, count: number): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for (let place = filter; events.length < count; ) {
    const limit = Math.min(readAtOnce, count - events.length)
    const part = await audit.list({ ...place, limit })
    events.push(...part)
    const last = part.at(-1)
    if (!last || part.length < limit) break
    place = { ...place, after: last.id }
  }
  return events
}
