import type { AuditEvent } from '../model/audit-event.js'
import {
  decoyTemplate,
  type LeasedMail,
  type MailLease,
  type MailState,
  type OutboxMail,
  type QueuedMail,
} from '../model/outbox-mail.js'
import type { Flag, OutboxTable } from './rows.js'
import { outbox } from './tables.js'
import type { Steps, Unit } from './unit.js'

/** Mails that wait. Most are written by the verbs of other ports, in the step that makes them due. */
export interface Outbox {
  /** Writes a mail that belongs to no other step, with its audit event if there is one. */
  put(mail: OutboxMail, audit?: AuditEvent): Promise<void>

  /**
   * Leases up to `count` due mails until `leaseUntil`, the longest due first. Two workers never get the same mail while its
   * lease lasts.
   */
  lease(count: number, now: number, leaseUntil: number): Promise<LeasedMail[]>

  /** Erases the values of a sent mail and forgets it. False, and nothing changed, when another worker has leased it since. */
  sent(lease: MailLease): Promise<boolean>

  /**
   * Counts a failed attempt; due again at `nextAttemptAt`, or set aside for good when that is null. `reason` is a short
   * code. False, and nothing changed, when another worker has leased it since.
   */
  failed(lease: MailLease, reason: string, nextAttemptAt: number | null): Promise<boolean>

  /** The mail with that id, unless it is a decoy; null when it was sent or dropped. */
  find(id: string): Promise<QueuedMail | null>

  /**
   * Mails in the outbox, newest first; those written in the same second by descending id. `after` is the last one of the
   * previous page. Decoys are left out, because they are never sent.
   */
  list(filter: {
    state?: MailState
    after: { createdAt: number; id: string } | null
    limit: number
  }): Promise<QueuedMail[]>

  /**
   * Makes a mail due now, also one that was set aside. One that is due or being sent already is left alone, and no audit
   * event is written. False when it is not there.
   */
  retry(id: string, now: number, audit: AuditEvent): Promise<boolean>

  /**
   * Erases a mail unsent. A delivery that is under way is not stopped. False when it is not there: of concurrent calls,
   * exactly one is true.
   */
  drop(id: string, audit: AuditEvent): Promise<boolean>

  /** Forgets up to `count` mails that were set aside and written before that moment (Unix seconds); returns how many. */
  prune(before: number, count: number): Promise<number>

  /** How many mails wait, and since when the oldest has waited (Unix seconds). */
  depth(): Promise<{ waiting: number; oldestAt: number | null; setAside: number }>
}

/** All of it but the leases, which each store takes in a way of its own. */
export function createOutbox(steps: Steps): Omit<Outbox, 'lease' | 'sent' | 'depth'> {
  return {
    put: (mail, audit) =>
      steps.transaction(async (unit) => {
        await writeMail(unit, mail)
        if (audit) unit.audit(audit)
      }),

    failed: ({ id, leaseId }, reason, nextAttemptAt) =>
      steps.write(outbox, {
        query: { id, lease_id: leaseId },
        set: failedColumns(reason, nextAttemptAt),
        raise: ['attempts'],
      }),

    ...administerMails(steps),

    prune: (before, limit) =>
      steps.removeDue(outbox, { set_aside: 1, created_at: { lt: before } }, { sort: { created_at: 1 }, limit }),
  }
}

/** What administrators see of the outbox and do to it. */
function administerMails(steps: Steps): Pick<Outbox, 'find' | 'list' | 'retry' | 'drop'> {
  return {
    find: (id) =>
      steps.glance(async (view) => {
        const row = await view.get(outbox, { id })
        return row && row.template !== decoyTemplate ? toQueuedMail(row) : null
      }),

    list: ({ state, after, limit }) =>
      steps.glance(async (view) => {
        const set_aside = state === undefined ? undefined : setAsideFlag(state)
        const query = { template: { ne: decoyTemplate }, set_aside }
        return (await view.newest(outbox, after, { query, limit })).map(toQueuedMail)
      }),

    retry: (id, now, audit) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(outbox, { id })
        if (!row) return false
        if (row.set_aside === 0 && row.next_attempt_at <= now) return true
        // The lease stays as it is, so that a mail that is being sent is not sent twice.
        await unit.put(outbox, { ...row, set_aside: 0, next_attempt_at: now })
        unit.audit(audit)
        unit.mailed = true
        return true
      }),

    drop: (id, audit) =>
      steps.transaction(async (unit) => {
        const row = await unit.get(outbox, { id })
        if (!row) return false
        await unit.remove(outbox, [row])
        unit.audit(audit)
        return true
      }),
  }
}

/** Makes the mail due in the step that causes it. The worker is notified after the step. */
export async function writeMail(unit: Unit, mail: OutboxMail): Promise<void> {
  await unit.put(outbox, toOutboxRow(mail, unit))
  unit.mailed = true
}

/** Makes a held mail due at that moment, if it is not due sooner. It tells when what it is about has ended. */
export async function makeDue(unit: Unit, id: string, at: number): Promise<void> {
  const row = await unit.get(outbox, { id })
  if (!row || row.created_at <= at || row.lease_id !== null) return
  await unit.put(outbox, { ...row, created_at: at, next_attempt_at: at })
  unit.mailed = true
}

function toOutboxRow(mail: OutboxMail, unit: { ordinal(): number }): OutboxTable {
  return {
    id: mail.id,
    ordinal: unit.ordinal(),
    recipient: mail.recipient,
    template: mail.template,
    sealed_values: mail.sealedValues,
    created_at: mail.createdAt,
    attempts: 0,
    next_attempt_at: mail.createdAt,
    lease_id: null,
    lease_until: null,
    set_aside: 0,
    last_reason: null,
  }
}

export function toLeasedMail(row: OutboxTable, leaseId: string): LeasedMail {
  return {
    id: row.id,
    leaseId,
    recipient: row.recipient,
    template: row.template,
    sealedValues: row.sealed_values,
    createdAt: Number(row.created_at),
    attempts: Number(row.attempts),
  }
}

function toQueuedMail(row: OutboxTable): QueuedMail {
  const isSetAside = Number(row.set_aside) === 1
  return {
    id: row.id,
    recipient: row.recipient,
    template: row.template,
    createdAt: Number(row.created_at),
    state: isSetAside ? 'set_aside' : 'waiting',
    attempts: Number(row.attempts),
    nextAttemptAt: isSetAside ? null : Number(row.next_attempt_at),
    lastReason: row.last_reason,
  }
}

function setAsideFlag(state: QueuedMail['state']): Flag {
  return state === 'set_aside' ? 1 : 0
}

/** What a failed attempt changes besides the count: due again at that moment, or set aside for good when it is null. */
export function failedColumns(reason: string, nextAttemptAt: number | null): Partial<OutboxTable> {
  return {
    last_reason: reason,
    lease_id: null,
    lease_until: null,
    ...(nextAttemptAt === null ? { set_aside: 1 } : { next_attempt_at: nextAttemptAt }),
  }
}
