import type { LeasedMail, OutboxMail, QueuedMail } from '../model/outbox-mail.js'
import type { Flag, OutboxTable } from './rows.js'

export function toOutboxRow(mail: OutboxMail, unit: { ordinal(): number }): OutboxTable {
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

/** What a list of mails needs of a row: everything but the values and the lease. */
export const queuedColumns = [
  'id',
  'recipient',
  'template',
  'created_at',
  'attempts',
  'next_attempt_at',
  'set_aside',
  'last_reason',
] as const satisfies readonly (keyof OutboxTable)[]

export function toQueuedMail(row: Pick<OutboxTable, (typeof queuedColumns)[number]>): QueuedMail {
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

export function setAsideFlag(state: QueuedMail['state']): Flag {
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
