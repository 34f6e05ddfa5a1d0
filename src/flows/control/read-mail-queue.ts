import { AuthError } from '../../errors.js'
import type { Page } from '../../model/account.js'
import type { AuditEvent, AuditEventName } from '../../model/audit-event.js'
import { type MailState, type QueuedMailEntry, toQueuedMailEntry } from '../../model/outbox-mail.js'
import type { Visitor } from '../../model/visitor.js'
import type { Ports } from '../../ports.js'
import { auditEvent } from '../steps/audit.js'
import { cursorOf, readCursor, requireLimit } from '../steps/paging.js'

type MailQueuePorts = Pick<Ports, 'outbox' | 'clock' | 'random'>

/** Which mail, and who acts on it. */
interface MailChange {
  id: string
  visitor: Visitor
}

/**
 * One page of the mails in the outbox, newest first, without addresses and texts.
 *
 * @throws {AuthError} `invalid_request` for an invalid limit or cursor
 */
export async function readMailQueue(
  ports: Pick<Ports, 'outbox'>,
  filter: { state?: MailState; limit?: number; cursor?: string },
): Promise<Page<QueuedMailEntry>> {
  const limit = requireLimit(filter.limit)
  const after = filter.cursor === undefined ? null : readCursor(filter.cursor)
  const state = filter.state === undefined ? {} : { state: filter.state }

  // One more than asked for shows whether there is another page.
  const found = await ports.outbox.list({ ...state, after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(toQueuedMailEntry), nextCursor: last && found.length > limit ? cursorOf(last) : null }
}

/**
 * Makes a mail due now, also one that was set aside. If its delivery fails again, it waits or is set aside as before.
 *
 * @throws {AuthError} `not_found`
 */
export async function retryMail(ports: MailQueuePorts, change: MailChange): Promise<void> {
  const audit = await recordOf(ports, 'mail_retried', change)
  if (!(await ports.outbox.retry(change.id, ports.clock.now(), audit))) throw new AuthError('not_found')
}

/**
 * Deletes a mail unsent, with its values.
 *
 * @throws {AuthError} `not_found`
 */
export async function dropMail(ports: MailQueuePorts, change: MailChange): Promise<void> {
  const audit = await recordOf(ports, 'mail_dropped', change)
  if (!(await ports.outbox.drop(change.id, audit))) throw new AuthError('not_found')
}

/** A mail never changes its template, so this read and the step after it cannot conflict. */
async function recordOf(
  ports: MailQueuePorts,
  event: AuditEventName,
  { id, visitor }: MailChange,
): Promise<AuditEvent> {
  const mail = await ports.outbox.find(id)
  if (!mail) throw new AuthError('not_found')
  return auditEvent(ports, event, visitor, { detail: { mailId: id, template: mail.template } })
}
